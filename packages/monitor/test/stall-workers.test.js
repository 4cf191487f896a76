/** Real worker threads that block, of a pool and of the program: what the watch says of them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { result, run } from './run.js';

const isLinux = process.platform === 'linux';

/** For scripts. `reported(watch, onFirst)` resolves with both reports of the next stall of a worker. */
const prelude = `
  import { Worker } from 'node:worker_threads';
  import { Pool } from '@millrace/pool';
  import { stalls } from '@millrace/monitor/stalls';
  const file = new URL('stalls/tasks.cjs', 'file://' + process.cwd() + '/');
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const newCell = () => new Int32Array(new SharedArrayBuffer(4));
  function release(cell) {
    Atomics.store(cell, 0, 1);
    Atomics.notify(cell, 0);
  }
  const reported = (watch, onFirst) =>
    new Promise((resolve) => {
      let first = null;
      // A worker without a task does not keep the process alive.
      const awake = setInterval(() => {}, 60_000);
      watch.on('workerStall', (stall) => {
        if (stall.isOver) {
          clearInterval(awake);
          resolve({ first, over: stall });
        } else {
          first = stall;
          onFirst(stall);
        }
      });
    });
`;

/**
 * Script that blocks the worker of a pool in one of its tasks, until both reports pass. A busy machine may give it no CPU in the time of
 * a stall, and so no sample; the last of some is printed in any case.
 */
const inPool = (name, passes) => `${prelude}
  const watch = stalls({ workers: 300 });
  for (let tries = 1; ; tries++) {
    const pool = new Pool({ filename: file, maxThreads: 1 });
    for (const _ of [1, 2, 3]) await pool.run(undefined, { name: 'shortTask' });
    const cell = newCell();
    const both = reported(watch, () => release(cell));
    await pool.run(cell, { name: '${name}' });
    const [worker] = pool.threads;
    const { first, over } = await both;
    const isSo = ${passes};
    if (isSo || tries === 10) {
      console.log(JSON.stringify({ first, over, id: worker.threadId }));
      await pool.close();
      break;
    }
    await pool.close();
    watch.removeAllListeners('workerStall');
  }
`;
const isSampled = "over.at?.function === 'spin' && over.seen === 'during'";
const isLogged = `${isSampled} && first.task?.name === 'spinTask'`;

describe('a worker thread that blocks', () => {
  test('is named with its task while it lasts, and at its end', async () => {
    const { first, over, id } = await result(inPool('spinTask', isLogged));
    for (const stall of [first, over]) {
      assert.deepEqual(stall.worker.id, id);
      assert.deepEqual([stall.task.name, stall.task.usual], ['spinTask', null]);
      assert.match(stall.task.file, /^stalls\/tasks\.cjs$/);
      assert.match(stall.summary, /, in the task spinTask of stalls\/tasks\.cjs \(its first run\)/);
    }
    assert.equal(over.id, first.id);
    assert.ok(over.duration >= first.duration);
    assert.equal(over.at.function, 'spin', over.summary);
    assert.equal(over.at.file, 'stalls/tasks.cjs');
    assert.equal(over.seen, 'during');
  });

  test('is known to sleep, and in which system call', { skip: !isLinux }, async () => {
    const { first } = await result(
      inPool('parkTask', "first.state === 'parked' && first.systemCall === 'futex'"),
    );
    assert.deepEqual([first.state, first.systemCall], ['parked', 'futex'], first.summary);
  });

  test('is named without a pool, also in its first turn', async () => {
    const { over } = await result(`${prelude}
      const watch = stalls({ workers: 300 });
      for (let tries = 1; ; tries++) {
        const cell = newCell();
        const both = reported(watch, () => release(cell));
        const worker = new Worker(file, { workerData: { cell } });
        const ended = new Promise((resolve) => worker.once('exit', resolve));
        const { over } = await both;
        await ended;
        watch.removeAllListeners('workerStall');
        if (${isSampled} || tries === 10) {
          console.log(JSON.stringify({ over }));
          break;
        }
      }
    `);
    assert.equal(over.task, null);
    assert.equal(over.worker.file, 'stalls/tasks.cjs');
    assert.equal(over.at.function, 'spin', over.summary);
    assert.match(over.summary, /^worker thread \d+ \(stalls\/tasks\.cjs\) was blocked for /);
  });

  test('may be ended', async () => {
    const { over } = await result(`${prelude}
      const watch = stalls({ workers: 300 });
      const worker = new Worker(file, { workerData: { cell: newCell() } });
      const { over } = await reported(watch, () => worker.terminate());
      console.log(JSON.stringify({ over }));
    `);
    assert.equal(over.isOver, true);
  });

  test('has lines in the log', async () => {
    const { code, stderr } = await run(inPool('spinTask', isLogged));
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^millrace: worker thread \d+ blocked for .* s so far, .*spinTask/m);
    assert.match(stderr, /^millrace: worker thread \d+ was blocked for .* s, .*spinTask/m);
  });
});

describe('a worker thread that does not block', () => {
  test('is not reported for a task that waits, nor for many short ones', {
    skip: !isLinux,
  }, async () => {
    const { names, turns } = await result(`${prelude}
      const watch = stalls({ workers: 500 });
      const names = [];
      // On a busy machine it may be without a CPU for longer.
      watch.on('workerStall', ({ state, task }) => state === 'starved' || names.push(task?.name));
      const pool = new Pool({ filename: file, maxThreads: 1, concurrentTasksPerWorker: 2 });
      const cell = newCell();
      const waits = pool.run(cell, { name: 'waitTask' });
      let turns = 0;
      for (const end = performance.now() + 3000; performance.now() < end; turns++) {
        await pool.run(undefined, { name: 'shortTask' });
        await sleep(1);
      }
      release(cell);
      await waits;
      await pool.close();
      console.log(JSON.stringify({ names, turns }));
    `);
    assert.ok(turns > 0);
    assert.deepEqual(names, []);
  });
});

describe('the option workers', () => {
  test('false leaves them alone', async () => {
    const { listeners, reports } = await result(`${prelude}
      const before = process.listenerCount('worker');
      const watch = stalls({ workers: false });
      let reports = 0;
      watch.on('workerStall', () => reports++);
      const cell = newCell();
      const worker = new Worker(file, { workerData: { cell } });
      setTimeout(() => release(cell), 1000);
      await new Promise((resolve) => worker.once('exit', resolve));
      const listeners = process.listenerCount('worker') - before;
      console.log(JSON.stringify({ listeners, reports }));
    `);
    assert.deepEqual({ listeners, reports }, { listeners: 0, reports: 0 });
  });
});
