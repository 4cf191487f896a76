/**
 * `make fresh`: what a stranger sees. Clones HEAD into a new folder and runs `make test` and
 * `make demo` there, with an empty HOME, a minimal environment and no terminal; then looks for
 * processes and files left behind, and removes the folder.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './lib/child.js';
import { exitWith, Failure } from './lib/failure.js';
import { root } from './lib/paths.js';

const TIMEOUT_MS = 30 * 60_000;

/** Marks every process of the run, however far it detaches itself. */
const RUN = randomUUID();

/** CI, and how this machine reaches the network; the rest of the environment stays behind. */
const KEPT =
  /^(CI|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|all|no)_proxy|npm_config_.*|GO(PROXY|(NO)?SUMDB|NOPROXY|PRIVATE|INSECURE))$/i;

/** Caches of compiled code, Node's own and that of tsx, which no program cleans up. */
const CACHES = /^(node-compile-cache|tsx-\d+)$/;

const folder = mkdtempSync(join(tmpdir(), 'millrace-fresh-'));
chmodSync(folder, 0o755); // tests that root runs start servers as another user
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const place = Object.fromEntries(
  ['clone', 'home', 'tmp'].map((name) => [name, join(folder, name)]),
);

try {
  await fresh();
} catch (error) {
  exitWith(error);
}

async function fresh() {
  mkdirSync(place.home);
  mkdirSync(place.tmp);
  await run('git', ['clone', '--quiet', '--no-local', root, place.clone]);
  const times = [];
  let left;
  try {
    for (const target of ['test', 'demo']) times.push(await time(target));
  } finally {
    left = await endProcessesLeft();
  }
  left.push(...filesLeft());
  if (left.length > 0) throw new Failure(`left behind:\n${left.join('\n')}`);
  console.log(`\n${times.join(', ')}; nothing left behind`);
}

async function time(target) {
  const start = performance.now();
  console.log(`\nmake ${target}`);
  await run('make', ['--no-print-directory', target], {
    cwd: place.clone,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeoutMs: TIMEOUT_MS,
    onStart: ({ stdout, stderr }) => {
      stdout.pipe(process.stdout, { end: false });
      stderr.pipe(process.stderr, { end: false });
    },
  });
  return `make ${target}: ${((performance.now() - start) / 1000).toFixed(0)} s`;
}

function environment() {
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: process.env.PATH,
    LANG: process.env.LANG ?? 'C.UTF-8',
    TERM: process.env.TERM ?? 'dumb',
    HOME: place.home,
    // Go's folder of modules cannot be removed otherwise.
    GOFLAGS: '-modcacherw',
    TMPDIR: place.tmp,
    MILLRACE_FRESH: RUN,
  };
}

/** Processes of the run that outlive it by more than two seconds; they are ended and named. */
async function endProcessesLeft() {
  await sleep(2000);
  return marked().map((pid) => {
    const command = readProc(pid, 'cmdline').replaceAll('\0', ' ');
    process.kill(pid, 'SIGKILL');
    return `process ${pid}: ${command}`;
  });
}

function marked() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readProc(pid, 'environ').includes(RUN));
}

/** A file of a process; empty when it has ended or belongs to somebody else. */
function readProc(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Temporary files, and files of the clone that git neither tracks nor ignores. */
function filesLeft() {
  const status = execFileSync('git', ['status', '--porcelain'], {
    cwd: place.clone,
    encoding: 'utf8',
  });
  return [
    ...status.split('\n').filter(Boolean),
    ...readdirSync(place.tmp).filter((name) => !CACHES.test(name)),
  ].map((each) => `file ${each}`);
}
