/** However a process ends, it ends as without observation, and the report is told. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** `signals` are sent when it is ready; the next one when something has been written after it. */
async function run(way, { observed = true, signals = [], env = {} } = {}) {
  const preload = observed ? ['--import', path('preload.mjs')] : [];
  return start([...preload, path('ends.js'), way], signals, env);
}

function start(args, signals, env) {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } });
  const left = [...signals];
  const text = { stdout: '', stderr: '' };
  const next = () => left.length > 0 && child.kill(left.shift());
  for (const name of Object.keys(text)) {
    child[name].setEncoding('utf8').on('data', (chunk) => {
      text[name] += chunk;
      if (name === 'stdout' || chunk.includes('Millrace has observed')) next();
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, ...text }));
  });
}

const parted = (list, is) => [list.filter(is), list.filter((each) => !is(each))];

const told = /^Millrace has observed process \d+, for \d+\.\d s, and changed nothing\.$/gm;

const reports = ({ stderr }) => stderr.match(told)?.length ?? 0;

const ends = {
  'its loop is empty': [],
  'process.exit()': [],
  'without environment and working directory': [],
  'an uncaught error': [],
  'an unhandled rejection': [],
  'a signal': ['SIGTERM'],
  'a signal that it has listened to once': ['SIGTERM'],
  'a signal that it listens to': ['SIGINT'],
  'an exit in a handler': ['SIGTERM'],
  'signal-exit 3': ['SIGTERM'],
  'signal-exit 4': ['SIGINT'],
  'process.kill()': [],
  'process.kill() with a name': [],
  'process.kill() with a number': [],
  'process.kill() with SIGUSR2': [],
  'process.kill() with SIGKILL': [],
  'process.kill() with a signal that it listens to': [],
  'process.kill() with signals that end nothing': [],
  'process.kill() of another': [],
  'process.abort()': [],
};

for (const [way, signals] of Object.entries(ends)) {
  test(`${way} ${signals}`, async () => {
    const [plain, observed] = await Promise.all([
      run(way, { signals, observed: false }),
      run(way, { signals }),
    ]);
    const { code, signal, stdout } = observed;
    assert.deepEqual([code, signal], [plain.code, plain.signal], observed.stderr);
    // The listener of the observation is not among those that the application counts.
    assert.equal(stdout, plain.stdout);
    assert.equal(reports(observed), 1, observed.stderr);
    assert.equal(reports(plain), 0);
    for (const line of plain.stderr.split('\n').filter((each) => /Error/.test(each))) {
      assert.ok(observed.stderr.includes(line), observed.stderr);
    }
  });
}

test('SIGHUP', async () => {
  const result = await run('a signal', { signals: ['SIGHUP'] });
  assert.deepEqual([result.signal, reports(result)], ['SIGHUP', 1], result.stderr);
});

test('SIGUSR2 asks for a report, and the end tells another', async () => {
  const result = await run('a signal', { signals: ['SIGUSR2', 'SIGINT'] });
  assert.equal(result.signal, 'SIGINT');
  assert.equal(reports(result), 2, result.stderr);
});

test('SIGUSR2 that the application listens to is its own', async () => {
  const result = await run('a signal that it listens to', { signals: ['SIGUSR2'] });
  assert.equal(result.stdout, 'ready\ngot SIGUSR2\n', result.stderr);
  assert.equal(reports(result), 1, result.stderr);
});

test('a thread tells for itself, if it saw anything', async (t) => {
  const { stderr } = await run('a thread');
  assert.match(stderr, /process \d+, thread \d+, for/);
  const [reading, others] = parted(stderr.split('Millrace has observed').slice(1), (text) =>
    /file reads +2 in 1 tick/.test(text),
  );
  assert.equal(reading.length, 2, stderr);
  // The thread that does nothing has seen its loop where a busy machine made its start-up last for more than a second.
  for (const text of others) assert.doesNotMatch(text, /loop +not looked at/);
  const folder = mkdtempSync(`${tmpdir()}/millrace-observe-`);
  t.after(() => rmSync(folder, { recursive: true }));
  const json = await run('a thread', { env: { MILLRACE_OBSERVE_JSON: `${folder}/a.json` } });
  assert.equal(json.stderr, '');
  const names = readdirSync(folder).sort();
  assert.equal(names.pop(), 'a.json');
  for (const name of names) assert.match(name, /^a\.\d+-\d+\.json$/);
  const seen = ['a.json', ...names].map((name) =>
    JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')),
  );
  const [readers, idle] = parted(seen, ({ files }) => files.reads > 0);
  assert.deepEqual(
    readers.map(({ version, files }) => [version, files.reads, files.readTicks]),
    [
      [1, 2, 1],
      [1, 2, 1],
    ],
  );
  for (const { loop } of idle) assert.ok(loop.turns > 0);
});

test('workers of a cluster write files of their own', async (t) => {
  const folder = mkdtempSync(`${tmpdir()}/millrace-observe-`);
  t.after(() => rmSync(folder, { recursive: true }));
  const { code, stdout, stderr } = await run('a cluster', {
    env: { MILLRACE_OBSERVE_JSON: `${folder}/a.json` },
  });
  assert.deepEqual([code, stderr], [0, '']);
  const worker = Number(stdout);
  assert.deepEqual(readdirSync(folder).sort(), [`a.${worker}.json`, 'a.json'].sort());
  const { application, files } = JSON.parse(readFileSync(`${folder}/a.${worker}.json`, 'utf8'));
  assert.deepEqual([application.pid, application.thread, files.reads], [worker, 0, 2]);
});

// Where Node.js can require ES modules, and says nothing about it.
const isAtOnce = process.features.require_module && !/^v(22\.12|23\.[0-4])\./.test(process.version);
const preloads = [['--import', 'index.js'], ...(isAtOnce ? [['--require', 'start.cjs']] : [])];

for (const [option, file] of preloads) {
  test(`reports an application that ends in its first turn with ${option}`, async (t) => {
    const folder = mkdtempSync(`${tmpdir()}/millrace-observe-`);
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(`${folder}/exit.cjs`, 'process.exit(3)');
    const preload = path(`../../../dist/auto/${file}`);
    const result = await start([option, preload, `${folder}/exit.cjs`], [], {
      MILLRACE: 'observe',
    });
    assert.deepEqual([result.code, reports(result)], [3, 1], result.stderr);
    const json = { MILLRACE: 'observe', MILLRACE_OBSERVE_JSON: `${folder}/a.json` };
    const written = await start([option, preload, `${folder}/exit.cjs`], [], json);
    assert.deepEqual([written.code, written.stderr], [3, '']);
    assert.equal(JSON.parse(readFileSync(`${folder}/a.json`, 'utf8')).version, 1);
  });
}

test('a path that cannot be written is one sentence, and the application ends as ever', async () => {
  const { code, stderr } = await run('process.exit()', {
    env: { MILLRACE_OBSERVE_JSON: '/none/a.json' },
  });
  assert.equal(code, 3);
  assert.match(stderr, /^Millrace cannot write its report: ENOENT.*'\/none\/a\.json'\.\n$/);
});
