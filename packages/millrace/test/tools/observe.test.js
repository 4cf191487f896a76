import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { folderWith, millrace, start } from './help.js';

/** Says that it is up once it is observed, which begins some time after its start. */
const WAITS = `const look = setInterval(() => {
  if (process.listenerCount('SIGUSR2') === 0) return;
  clearInterval(look); console.log('up'); setInterval(() => {}, 1000);
}, 10);`;

test('the report is printed on stderr when the application ends', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': 'setTimeout(() => {}, 10)' });
  const { code, output, errors } = await millrace(['observe', 'app.cjs'], { cwd });
  assert.equal(code, 0, errors);
  assert.equal(output, '');
  assert.match(errors, /^millrace: observing; the report comes when the application ends/);
  assert.match(errors, /^Millrace has observed process \d+/m);
});

test('the report is written as JSON, also when a signal ends the application', async (t) => {
  const cwd = folderWith(t, {
    'app.mjs': WAITS,
  });
  const args = ['observe', '--json', 'my report.json', 'app.mjs'];
  const { child, ended, seen } = start(args, { cwd, input: null });
  await seen('up');
  child.kill('SIGINT');
  const { code, errors } = await ended;
  assert.equal(code, 130);
  assert.equal(errors, '');
  assert.equal(typeof JSON.parse(readFileSync(join(cwd, 'my report.json'), 'utf8')), 'object');
});

const KILLED = `const { readFile } = require('node:fs/promises');
const { readdirSync } = require('node:fs');
const cluster = require('node:cluster');
Promise.all([readFile(__filename), readFile(__filename)]).then(() => {
  if (process.argv[2] === 'cluster' && cluster.isPrimary) {
    cluster.fork().once('exit', () => process.exit(5));
    return;
  }
  const look = setInterval(() => {
    const folder = process.env.MILLRACE_OBSERVE_KEPT;
    const mine = \`\${folder}/\${process.pid}-0.json\`;
    let reads = 0;
    try {
      ({ reads } = JSON.parse(require('node:fs').readFileSync(mine, 'utf8')).report.files);
    } catch {}
    if (reads < 2) return;
    clearInterval(look);
    // By the shell: nothing of this process sees it.
    require('node:child_process').execFileSync('sh', ['-c', \`kill -KILL \${process.pid}\`]);
  }, 50);
});`;

test('findings until SIGKILL are reported, of workers of a cluster as well', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': KILLED });
  const killed = await millrace(['observe', 'app.cjs'], { cwd });
  assert.equal(killed.code, 137);
  assert.match(
    killed.errors,
    /process \d+ ended before it could report\. What it had seen \d+\.\d s ago follows\.\n/,
  );
  assert.match(killed.errors, /file reads +2 in 1 tick/);
  assert.equal(killed.errors.match(/^Millrace has observed process/gm).length, 1);
  const worker = await millrace(['observe', 'app.cjs', 'cluster'], { cwd });
  assert.equal(worker.code, 5);
  const pids = [...worker.errors.matchAll(/^Millrace has observed process (\d+)/gm)];
  assert.equal(new Set(pids.map(([, pid]) => pid)).size, 2, worker.errors);
});

test('findings until SIGKILL are in the file for JSON', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': KILLED });
  const { code, errors } = await millrace(['observe', '--json', 'a.json', 'app.cjs'], { cwd });
  assert.equal(code, 137);
  assert.match(errors, /^\nmillrace observe: process \d+ ended .* is in .*a\.json\.\n$/);
  assert.equal(JSON.parse(readFileSync(join(cwd, 'a.json'), 'utf8')).files.reads, 2);
});

test('a report that cannot be written is an error', async (t) => {
  const cwd = folderWith(t, {
    'app.cjs': `require('node:fs').mkdirSync('a.json')`,
    'seven.cjs': `process.exitCode = 7; require('node:fs').mkdirSync('b.json')`,
  });
  const of = (json, file) => millrace(['observe', '--json', json, file], { cwd });
  const { code, errors } = await of('a.json', 'app.cjs');
  assert.equal(code, 1);
  assert.match(errors, /^millrace observe: the report cannot be written: EISDIR.*\.\n$/);
  // The application's own comes first.
  assert.equal((await of('b.json', 'seven.cjs')).code, 7);
});

test('nothing is left behind', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': '' });
  const tmp = join(cwd, 'folder');
  mkdirSync(tmp);
  assert.equal((await millrace(['observe', 'app.cjs'], { cwd, env: { TMPDIR: tmp } })).code, 0);
  assert.deepEqual(readdirSync(tmp), []);
  // Where nothing can be kept it is observed all the same.
  const { code, errors } = await millrace(['observe', 'app.cjs'], {
    cwd,
    env: { TMPDIR: '/none' },
  });
  assert.equal(code, 0);
  assert.match(errors, /^Millrace has observed process/m);
});

test('SIGUSR2 prints the report so far', async (t) => {
  const cwd = folderWith(t, {
    'app.cjs': WAITS,
  });
  const { child, ended, seen } = start(['observe', 'app.cjs'], { cwd, input: null });
  await seen('up');
  child.kill('SIGUSR2');
  await seen('Millrace');
  child.kill();
  assert.equal((await ended).code, 143);
});

test('nothing is switched on, whatever MILLRACE says', async (t) => {
  const cwd = folderWith(t, { 'app.cjs': 'console.log(process.env.MILLRACE)' });
  const { output } = await millrace(['observe', 'app.cjs', 'x'], { cwd, env: { MILLRACE: 'net' } });
  assert.equal(output, 'observe\n');
  assert.equal(existsSync(join(cwd, 'x')), false);
});
