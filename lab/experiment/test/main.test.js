import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderFor, SERVER } from './support.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const SUPPORT = new URL('./support.js', import.meta.url).href;

/** Writes an experiment whose load is `requests`, as source. */
function write(folder, requests, more = '') {
  const path = join(folder, 'tiny.js');
  writeFileSync(
    path,
    `import { moduleWith } from ${JSON.stringify(SUPPORT)};
    const module = moduleWith({ load: { requests: () => (${requests}) } ${more} });
    export const { question, claim, control, treatment, load, metrics, rounds } = module;`,
  );
  return path;
}

const ONE = "[{ name: 'one', path: '/one', payload: ({ value }) => value }]";
const CLAIM = "{ text: 'Much faster', source: 'a paper', metric: 'one_ms', atLeast: 1000 }";

function start(t, args) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { child, output: '', errors: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.errors += text;
  });
  said.ended = once(child, 'close').then(([code, signal]) => signal ?? code);
  t.after(async () => {
    child.kill('SIGTERM');
    await said.ended;
  });
  return said;
}

test('without a name it lists the experiments with their questions', async (t) => {
  const said = start(t, []);
  assert.equal(await said.ended, 0, said.errors);
  assert.match(said.output, /^compute-fibonacci +\S.*\?$/m);
});

test('an experiment ends in a table, and its raw samples are kept', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE, `, claim: ${CLAIM}`);
  const results = join(folder, 'results');
  const said = start(t, [path, '--quick', '--seed', '5', '--results', results]);
  assert.equal(await said.ended, 0, said.errors);
  assert.match(said.output, /^Is it faster\?$/m);
  assert.match(said.output, /^one, ms \(lower is better\) +[\d.]+ +[\d.]+ +[\d.]+×$/m);
  assert.match(said.output, /"Much faster" \(a paper\)\n {2}open, .*, 1 round\), claimed 1,000×/);
  assert.match(said.output, /seed 5/);
  const [file] = readdirSync(results);
  const kept = JSON.parse(readFileSync(join(results, file), 'utf8'));
  assert.equal(kept.seed, 5);
  assert.equal(kept.quick, true);
  assert.equal(kept.runs.length, 2);
  assert.ok(kept.runs[0].answers[0].latencyMs > 0);
  assert.equal(kept.host.node, process.version);
});

test('with --json stdout carries lines of JSON and nothing else', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, ONE, `, claim: ${CLAIM}`);
  const said = start(t, [path, '--quick', '--json', '--results', folder]);
  assert.equal(await said.ended, 0, said.errors);
  const lines = said.output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ kind }) => kind),
    ['experiment', 'run', 'run', 'figure', 'claim'],
  );
  assert.ok(lines.every(({ experiment }) => experiment === 'tiny'));
  assert.equal(lines[0].host.node, process.version);
  assert.equal(lines[3].metric, 'one_ms');
  assert.match(said.errors, /Is it faster\?/);
});

test('a refusal ends with code 1 and the difference, without a figure', async (t) => {
  const folder = folderFor(t);
  const path = write(folder, "[{ name: 'one', path: '/one' }]");
  const said = start(t, [path, '--quick', '--json', '--results', folder]);
  assert.equal(await said.ended, 1);
  assert.equal(said.output, '');
  assert.match(said.errors, /Failed: refused, so no figure counts: payload of 'one': /);
  assert.deepEqual(readdirSync(folder), ['tiny.js']);
});

test('bad options and unknown experiments are told with what is allowed', async (t) => {
  const bad = start(t, ['--rounds', '0']);
  const unknown = start(t, ['nothing']);
  const misspelt = start(t, ['--quik']);
  assert.equal(await bad.ended, 2);
  assert.match(bad.errors, /--rounds is "0"; allowed are whole numbers from 1 to 1000/);
  assert.equal(await unknown.ended, 1);
  assert.match(unknown.errors, /there is no experiment nothing; there are compute-/);
  assert.equal(await misspelt.ended, 2);
  assert.match(misspelt.errors, /'--quik'/);
});

test('Ctrl-C takes the server along', async (t) => {
  const folder = folderFor(t);
  const path = write(
    folder,
    "[{ name: 'one', path: '/hold' }, { name: 'two', path: '/one', at: 1e8 }]",
  );
  const said = start(t, [path, '--results', folder]);
  const server = await childOf(said.child.pid);
  said.child.kill('SIGINT');
  assert.equal(await said.ended, 130, said.errors);
  assert.equal(commandOf(server), '');
});

/** The number of the server that a process has started. */
async function childOf(parent) {
  for (;;) {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const isChild = read(`/proc/${pid}/stat`).split(') ').at(-1).split(' ')[1] === `${parent}`;
      if (isChild && commandOf(pid).includes(SERVER)) return pid;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const commandOf = (pid) => read(`/proc/${pid}/cmdline`);

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
