// Injected: task files that are missing, have a syntax error, throw, exit, or load for ever; that are removed and come back; exports
// that are no functions. Counted: calls that were answered, runs of the neighbours' tasks.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Pool } from '@millrace/pool';
import { atRest, counters, folder, open, outcomes, repeat, until } from './support.js';

const neighbours = 50;

/**
 * A file that loads for ever, and `loading`, which waits until so many workers wait in it. A worker that is ended while it still enters a module
 * with a top-level await ends the process: a defect of V8 in Node.js 20, which these tests do not mean.
 */
function endless(files, name) {
  const text = `
    import { writeFileSync } from 'node:fs';
    import { threadId } from 'node:worker_threads';
    setImmediate(() => writeFileSync(new URL(\`${name}-\${threadId}\`, import.meta.url), ''));
    await new Promise(() => {});`;
  const filename = files.write(`${name}.mjs`, text);
  const marks = () => readdirSync(dirname(filename)).filter((file) => file.startsWith(`${name}-`));
  return { filename, loading: (workers) => until(() => marks().length >= workers) };
}

const broken = [
  'export default (task => ;',
  'throw new Error("not today");',
  'throw () => {};',
  'import "./nowhere.js";',
  'export default 5; export const other = () => {};',
  'export default Promise.resolve({});',
  'export default Promise.reject(new Error("not today"));',
  '',
];

test('files that cannot be loaded: their calls fail and say so, the neighbours run once each', async (t) => {
  const runs = counters(neighbours);
  const pool = open(t, { workerData: { runs } });
  const files = folder(t);
  const filenames = broken.map((text, n) => files.write(`broken-${n}.mjs`, text));
  const bad = filenames.map((filename) => repeat(10, (n) => pool.run(n, { filename })));
  const good = repeat(neighbours, (n) => pool.run(n, { name: 'count' }));
  const [fine, ...failed] = await Promise.all([good, ...bad].map(outcomes));
  assert.deepEqual(fine, { ok: neighbours });
  for (const each of failed) assert.deepEqual(each, { MILLRACE_E_TASK_FILE: 10 });
  for (const filename of filenames) {
    await assert.rejects(pool.run(0, { filename }), ({ message }) => message.includes(filename));
  }
  assert.deepEqual(
    [...runs],
    repeat(neighbours, () => 1),
  );
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, neighbours + 11 * broken.length);
});

test('a file that is missing, a folder, and an export that is: each is named', async (t) => {
  const pool = open(t);
  const files = folder(t);
  const code = 'MILLRACE_E_TASK_FILE';
  await assert.rejects(pool.run(0, { filename: files.path('no.mjs') }), {
    code,
    message: /no\.mjs/,
  });
  await assert.rejects(pool.run(0, { filename: files.path('.') }), { code });
  await assert.rejects(pool.run(0, { name: 'nothing' }), {
    code,
    message: /'nothing'.*echo|count/,
  });
  assert.equal(await pool.run(1), 1);
  await atRest(pool, 4);
});

test('a file that was missing is loaded once it is there, by the same worker', async (t) => {
  const pool = open(t, { maxThreads: 1 });
  const files = folder(t);
  const filename = files.path('late.mjs');
  await assert.rejects(pool.run(1, { filename }), { code: 'MILLRACE_E_TASK_FILE' });
  await assert.rejects(pool.run(1, { filename }), { code: 'MILLRACE_E_TASK_FILE' });
  files.write('late.mjs', 'export default (task) => task;');
  assert.deepEqual(await outcomes(repeat(20, (n) => pool.run(n, { filename }))), { ok: 20 });
  assert.equal(pool.stats().crashed, 0);
  await atRest(pool, 22);
});

test('a file that is removed: workers that have it go on, later ones do not, until it is back', async (t) => {
  const files = folder(t);
  const filename = files.write('removed.mjs', 'export default (task) => task;');
  const pool = open(t, { filename, maxThreads: 1 });
  await pool.prewarm();
  files.remove('removed.mjs');
  assert.equal(await pool.run(1), 1);
  await pool.recycle();
  await assert.rejects(pool.run(2), { code: 'MILLRACE_E_TASK_FILE' });
  files.write('removed.mjs', 'export default (task) => task;');
  assert.equal(await pool.run(3), 3);
  await atRest(pool, 3);
});

test("a task's file that exits while it loads: its calls fail, its neighbours run once each", async (t) => {
  const runs = counters(neighbours);
  const pool = open(t, { maxThreads: 1, workerData: { runs } });
  const filename = folder(t).write('exits.mjs', 'process.exit(3);');
  const bad = pool.run(0, { filename });
  const good = repeat(neighbours, (n) => pool.run(n, { name: 'count' }));
  const fine = outcomes(good);
  await assert.rejects(bad, {
    code: 'MILLRACE_E_WORKER',
    message:
      'worker exited with code: 3 (the worker ended before the task began, as each one did that was given it)',
  });
  assert.deepEqual(await fine, { ok: neighbours });
  assert.deepEqual(
    [...runs],
    repeat(neighbours, () => 1),
  );
  await atRest(pool, neighbours + 1);
});

test("the pool's file exits while it loads: workers do not start for ever, calls fail, and run once it does not", async (t) => {
  const files = folder(t);
  const filename = files.write('exits.mjs', 'process.exit(3);');
  const pool = open(t, { filename, minThreads: 2 });
  await until(() => pool.stats().workers.total === 0);
  const crashed = pool.stats().crashed;
  assert.ok(crashed <= 4, `${crashed} workers`);
  const calls = repeat(100, (n) => pool.run(n));
  await assert.rejects(calls[0], {
    code: 'MILLRACE_E_WORKER',
    message:
      'workers cannot be started: worker exited with code: 3; mend that, and the next task tries again',
  });
  assert.deepEqual(await outcomes(calls), { MILLRACE_E_WORKER: 100 });
  assert.ok(pool.stats().crashed <= 8, `${pool.stats().crashed} workers`);
  files.write('exits.mjs', 'export default (task) => task;');
  assert.deepEqual(await outcomes(repeat(100, (n) => pool.run(n))), { ok: 100 });
  assert.equal(pool.stats().workers.total, 2);
  await atRest(pool, 200);
});

test('workers that end soon after they have started: they do not start for ever, and do once the cause has gone', async (t) => {
  const files = folder(t);
  const text = 'export default (task) => task;';
  const filename = files.write(
    'soon.mjs',
    `setTimeout(() => { throw new Error('soon'); }, 1);${text}`,
  );
  const pool = open(t, { filename, minThreads: 2 });
  const errors = [];
  pool.on('error', ({ message }) => errors.push(message));
  await until(() => pool.stats().workers.total === 0);
  assert.ok(pool.stats().crashed <= 4, `${pool.stats().crashed} workers`);
  assert.deepEqual(new Set(errors), new Set(['soon']));
  files.write('soon.mjs', text);
  assert.deepEqual(await outcomes(repeat(100, (n) => pool.run(n))), { ok: 100 });
  await atRest(pool, 100);
});

test('workers that start and end while this thread is busy: each end is a crash, and another one starts', async (t) => {
  const text = "setTimeout(() => { throw new Error('soon'); }, 1); export default (task) => task;";
  const filename = folder(t).write('soon.mjs', text);
  const pool = open(t, { filename, minThreads: 2 });
  const errors = [];
  pool.on('error', ({ message }) => errors.push(message));
  await until(() => {
    // What they have sent and that they have ended is read in one turn, the end first.
    for (const endMs = performance.now() + 100; performance.now() < endMs; );
    return pool.stats().workers.total === 0;
  });
  // Three leave no hope, and one was running beside the third.
  assert.equal(pool.stats().crashed, 4);
  assert.deepEqual(errors, ['soon', 'soon', 'soon']);
});

test('a file that loads for ever: other functions run elsewhere, an abort and the end of the pool settle its calls', async (t) => {
  const runs = counters(neighbours);
  const pool = open(t, { minThreads: 2, workerData: { runs } });
  const files = folder(t);
  const { filename, loading } = endless(files, 'never');
  const controller = new AbortController();
  const stuck = pool.run(0, { filename, signal: controller.signal });
  const good = repeat(neighbours, (n) => pool.run(n, { name: 'count' }));
  assert.deepEqual(await outcomes(good), { ok: neighbours });
  assert.deepEqual(
    [...runs],
    repeat(neighbours, () => 1),
  );
  await loading(1);
  controller.abort();
  await assert.rejects(stuck, { code: 'MILLRACE_E_ABORTED' });
  const { queued, running } = pool.stats();
  assert.equal(queued.total + running, 0);
  const other = endless(files, 'other');
  const last = outcomes(repeat(3, () => pool.run(0, { filename: other.filename })));
  await other.loading(1);
  await pool.destroy();
  assert.deepEqual(await last, { MILLRACE_E_CLOSED: 3 });
  assert.equal(pool.completed, neighbours + 4);
});

test('the last call is aborted while the pool closes: nothing is left to wait for', async (t) => {
  const { filename, loading } = endless(folder(t), 'never');
  const pool = open(t, { maxThreads: 1 });
  pool.on('error', (error) => assert.fail(error));
  await pool.prewarm();
  const controller = new AbortController();
  const { signal } = controller;
  const calls = repeat(3, (n) => pool.run(n, { filename, signal }));
  const closed = pool.close();
  await loading(1);
  controller.abort();
  assert.deepEqual(await outcomes(calls), { MILLRACE_E_ABORTED: 3 });
  await closed;
});

test('no file at all, and what is no file', async (t) => {
  const pool = new Pool({ maxThreads: 1 });
  t.after(() => pool.destroy());
  const code = 'MILLRACE_E_INVALID_ARGUMENT';
  await assert.rejects(pool.run(1), { code });
  await assert.rejects(pool.run(1, { filename: 7 }), { code });
  await assert.rejects(pool.run(1, { filename: 'https://example.com/x.js' }), /it must be a path/);
  const echo = pathToFileURL(folder(t).write('echo.mjs', 'export default (task) => task;'));
  assert.equal(await pool.run(1, { filename: echo }), 1);
  await atRest(pool, 1);
});
