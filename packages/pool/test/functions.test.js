// How functions are found: in files of each kind, by names, by registered names; and never as text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Pool } from '@millrace/pool';
import { open, outcomes, repeat } from './support.js';

const file = (name) => new URL(`./functions/${name}`, import.meta.url);
const noFunction = { code: 'MILLRACE_E_TASK_FILE' };

test('default and named exports of ES modules and CommonJS, and promises of functions', async (t) => {
  const pool = open(t, { filename: null });
  const run = (filename, name) => pool.run(1, { filename: file(filename), name });
  assert.equal(await run('esm.mjs'), 'default of ESM');
  assert.equal(await run('esm.mjs', 'default'), 'default of ESM');
  assert.equal(await run('esm.mjs', 'named'), 'named of ESM');
  assert.equal(await run('esm.mjs', 'promised'), 'promised of ESM');
  assert.equal(await run('cjs.cjs'), 'default of CJS');
  assert.equal(await run('cjs.cjs', 'named'), 'named of CJS');
  assert.equal(await run('object.cjs', 'named'), 'named of an object');
  assert.equal(await run('promise.cjs'), 'promised of CJS');
});

test('no name stands for whatever a file exports', async (t) => {
  const pool = open(t, { filename: file('esm.mjs') });
  await assert.rejects(pool.run(1, { name: '*' }), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  assert.equal(await pool.run(1, { name: 'named' }), 'named of ESM');
});

test('a file is given as a URL, its text, or a path, absolute or not', async (t) => {
  const pool = open(t, { filename: null });
  const url = file('esm.mjs');
  const path = fileURLToPath(url);
  const relative = path.slice(process.cwd().length + 1);
  assert.ok(path.startsWith(process.cwd()));
  for (const filename of [url, url.href, path, relative])
    assert.equal(await pool.run(1, { filename }), 'default of ESM');
});

test('functions and register() give names to exports of other files', async (t) => {
  const pool = open(t, {
    functions: {
      plain: file('esm.mjs'),
      path: fileURLToPath(file('cjs.cjs')),
      other: { filename: file('esm.mjs'), name: 'named' },
    },
  });
  assert.equal(pool.register('late', file('cjs.cjs'), 'named'), pool);
  pool.register('later', file('cjs.cjs'));
  const run = (name) => pool.run('task', { name });
  assert.equal(await run('plain'), 'default of ESM');
  assert.equal(await run('path'), 'default of CJS');
  assert.equal(await run('other'), 'named of ESM');
  assert.equal(await run('late'), 'named of CJS');
  assert.equal(await run('later'), 'default of CJS');
  // Taken over.
  pool.register('late', file('esm.mjs'));
  assert.equal(await run('late'), 'default of ESM');
  // Others are exports of the pool's file, as before; so are registered names of a file that is given.
  assert.equal(await pool.run('task', { name: 'default' }), 'task');
  await assert.rejects(pool.run(1, { name: 'late', filename: file('cjs.cjs') }), noFunction);
});

test('names that are no functions of the file, those that all objects have among them', async (t) => {
  const pool = open(t, { filename: file('cjs.cjs') });
  const names = ['missing', 'toString', 'constructor', 'call', 'hasOwnProperty', '__proto__'];
  const codes = await outcomes(names.map((name) => pool.run(1, { name })));
  assert.deepEqual(
    codes,
    names.map(() => 'MILLRACE_E_TASK_FILE'),
  );
  const of = (filename, name) => pool.run(1, { filename: file(filename), name });
  await assert.rejects(of('esm.mjs', 'value'), { ...noFunction, message: /'value'/ });
  await assert.rejects(of('object.cjs'), { ...noFunction, message: /named/ });
  await assert.rejects(of('missing.js'), { ...noFunction, message: /missing\.js/ });
  assert.equal(await pool.run(1), 'default of CJS');
});

test('code as text is refused, in each place', async (t) => {
  const text = 'data:text/javascript,export default () => 1';
  const refused = ({ code }) =>
    code === 'MILLRACE_E_INVALID_OPTION' || code === 'MILLRACE_E_INVALID_ARGUMENT';
  assert.throws(() => new Pool({ filename: text }), refused);
  assert.throws(() => new Pool({ functions: { x: text } }), refused);
  assert.throws(() => new Pool({ filename: new URL(text) }), refused);
  assert.throws(() => new Pool({ filename: () => 1 }), refused);
  assert.throws(() => new Pool({ functions: { x: () => 1 } }), refused);
  assert.throws(() => new Pool({ eval: true }), refused);
  assert.throws(() => new Pool(text), {
    code: 'MILLRACE_E_INVALID_OPTION',
    message: /'options' is .*; it must be an object/,
  });
  const pool = open(t);
  assert.throws(() => pool.register('x', text), refused);
  assert.throws(() => pool.register('x', () => 1), refused);
  assert.throws(() => pool.register('', file('esm.mjs')), refused);
  await assert.rejects(pool.run(1, { filename: text }), refused);
  await assert.rejects(pool.run(1, { filename: new URL(text) }), refused);
  await assert.rejects(pool.run(1, { filename: '() => 1' }), noFunction);
  await assert.rejects(pool.run(1, { filename: 'node:os' }), refused);
});

test('without a file there is nothing to run', async (t) => {
  const pool = open(t, { filename: null });
  await assert.rejects(pool.run(1), { code: 'MILLRACE_E_INVALID_ARGUMENT', message: /filename/ });
  assert.equal(await pool.run(1, { filename: file('esm.mjs') }), 'default of ESM');
});

test('a function with a name of its own: other keys, and names that are no text, are refused', () => {
  const filename = file('esm.mjs');
  const refuses = (functions, message) =>
    assert.throws(() => new Pool({ functions }), { code: 'MILLRACE_E_INVALID_OPTION', message });
  refuses(
    { a: { filename, nmae: 'named' } },
    /'functions\.a\.nmae' \(is 'name' meant\?\); known are filename, name/,
  );
  refuses({ a: { filename, name: 5 } }, /'functions\.a\.name' is 5/);
  refuses({ a: { filename, name: null } }, /'functions\.a\.name' is null/);
  refuses({ a: { name: 'named' } }, /'functions\.a\.filename' is undefined/);
});

test("'auto' is for maxQueue alone", async (t) => {
  assert.equal(open(t, { maxQueue: 'auto', maxThreads: 3 }).options.maxQueue, 9);
  for (const name of ['maxTasksPerWorker', 'maxWorkerAge', 'idleTimeout']) {
    const refused = { code: 'MILLRACE_E_INVALID_OPTION', message: new RegExp(name) };
    assert.throws(() => new Pool({ [name]: 'auto' }), refused);
  }
});

test('after a thousand names a worker gets forgotten definitions again, and lives', async (t) => {
  const pool = open(t, { name: 'where' });
  const id = await pool.run();
  const count = 2100;
  const codes = await outcomes(repeat(count, (n) => pool.run(n, { name: `wrong ${n}` })));
  assert.deepEqual(new Set(codes), new Set(['MILLRACE_E_TASK_FILE']));
  assert.equal(await pool.run(), id, 'the same worker');
  assert.equal(pool.stats().requeued, 0);
});
