import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
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
