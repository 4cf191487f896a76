// What users of piscina have from its documentation, beside what its own tests say (packages/pool/test-peers/piscina.test.js).
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFile } from 'node:child_process';
import { EventEmitter, getEventListeners, on, once } from 'node:events';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BroadcastChannel, MessageChannel } from 'node:worker_threads';
import * as exported from '@millrace/pool';
import Pool, { move, queueOptionsSymbol, transferableSymbol, valueSymbol } from '@millrace/pool';

const { dirname } = import.meta;
const require = createRequire(import.meta.url);
const file = (name) => new URL(`./piscina-api/${name}`, import.meta.url);

function open(t, options = {}) {
  const pool = new Pool({
    filename: file('tasks.js'),
    minThreads: 1,
    maxThreads: 1,
    // None ends while a test looks at them.
    idleTimeout: Number.POSITIVE_INFINITY,
    closeTimeout: 600_000,
    ...options,
  });
  t.after(() => pool.destroy());
  return pool;
}

/** A task that runs until its gate is opened; resolves when it runs. */
async function hold(pool, options) {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const held = once(pool, 'message');
  const ended = pool.run(gate, { name: 'hold', ...options });
  ended.catch(() => {});
  assert.deepEqual(await held, ['holds']);
  const release = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { ended, release };
}

const sources = {
  AbortSignal() {
    const controller = new AbortController();
    const reason = new Error('why');
    return { signal: controller.signal, reason, abort: () => controller.abort(reason) };
  },
  EventTarget() {
    const signal = new EventTarget();
    return { signal, abort: () => signal.dispatchEvent(new Event('abort')) };
  },
  EventEmitter() {
    const signal = new EventEmitter();
    return { signal, abort: () => signal.emit('abort') };
  },
};

for (const [kind, source] of Object.entries(sources)) {
  test(`an ${kind} aborts a task that waits, and one that runs`, async (t) => {
    const pool = open(t);
    const running = source();
    const waiting = source();
    const over = source();
    const { ended } = await hold(pool, { signal: running.signal });
    const queued = pool.run('never', { signal: waiting.signal });
    const stays = pool.run('stays', { signal: over.signal });
    assert.equal(pool.queueSize, 2);

    waiting.abort();
    assert.equal(pool.queueSize, 1);
    const expected = { name: 'AbortError', message: 'The task has been aborted' };
    await assert.rejects(queued, { ...expected, cause: waiting.reason });

    const [before] = pool.threads;
    running.abort();
    await assert.rejects(ended, { ...expected, cause: running.reason });
    assert.equal(await stays, 'stays');
    assert.notEqual(pool.threads[0], before);
    for (const { signal } of [running, waiting, over]) {
      assert.deepEqual(getEventListeners(signal, 'abort'), []);
    }
  });
}

test('a worker that runs an aborted task says that it ends, and another comes', async (t) => {
  const seen = [];
  const pool = open(t, {
    loadBalancer(task, workers) {
      seen.push({ task, workers });
      return workers[0];
    },
  });
  const told = { workerCreate: [], workerDestroy: [] };
  for (const event of Object.keys(told)) pool.on(event, (worker) => told[event].push(worker));
  const controller = new AbortController();
  const { ended } = await hold(pool, { signal: controller.signal });
  const [{ task, workers }] = seen;
  const [worker] = workers;
  assert.equal(worker.id, pool.threads[0].threadId);
  assert.equal(worker.currentUsage, Number.POSITIVE_INFINITY);
  assert.equal(worker.isRunningAbortableTask, true);
  assert.deepEqual([worker.terminating, worker.destroyed], [false, false]);
  assert.equal(task.isAbortable, true);
  assert.equal(task.name, 'hold');
  assert.equal(task.filename, new URL(file('tasks.js')).pathname);
  assert.equal(typeof task.taskId, 'number');
  assert.ok(task.created <= performance.now());

  const [thread] = pool.threads;
  const exited = once(thread, 'exit');
  controller.abort();
  assert.equal(worker.terminating, true);
  await assert.rejects(ended, { code: 'MILLRACE_E_ABORTED' });
  await exited;
  assert.deepEqual([worker.terminating, worker.destroyed], [false, true]);
  assert.equal(await pool.run('again'), 'again');
  assert.deepEqual(told.workerDestroy, [worker]);
  assert.equal(told.workerCreate.length, 2);
  assert.equal(told.workerCreate[0], worker);
});

test('a balancer that wants no worker for a task has another one started', async (t) => {
  const pool = open(t, {
    maxThreads: 2,
    loadBalancer: (_task, workers) =>
      workers.find(({ currentUsage }) => currentUsage === 0) ?? null,
  });
  const { ended, release } = await hold(pool);
  const [first] = pool.threads;
  assert.notEqual(await pool.run(null, { name: 'thread' }), first.threadId);
  release();
  await ended;
  assert.equal(pool.threads.length, 2);
});

test("a user's queue sees the queueOptions of tasks, and says who is next", async (t) => {
  const waiting = [];
  const urgency = (task) => task[queueOptionsSymbol]?.urgency ?? 0;
  const taskQueue = {
    get size() {
      return waiting.length;
    },
    push(task) {
      waiting.push(task);
      waiting.sort((a, b) => urgency(b) - urgency(a));
    },
    shift: () => waiting.shift() ?? null,
    remove: (task) => void waiting.splice(waiting.indexOf(task), 1),
  };
  const pool = open(t, { taskQueue });
  const { release } = await hold(pool);
  const order = [];
  const run = (name, urgency) => {
    const task = urgency === undefined ? { name } : { name, [queueOptionsSymbol]: { urgency } };
    return pool.run(task).then((result) => order.push(result.name));
  };
  const calls = [run('none'), run('low', 1), run('high', 3), run('middle', 2)];
  assert.equal(pool.queueSize, 4);
  release();
  await Promise.all(calls);
  assert.deepEqual(order, ['high', 'middle', 'low', 'none']);
});

test("'needsDrain' when workers have all that they can run, 'drain' when they have not: once each", async (t) => {
  const pool = open(t, { maxThreads: 2 });
  const events = [];
  for (const event of ['needsDrain', 'drain']) {
    pool.on(event, () => events.push([event, pool.needsDrain]));
  }
  const one = await hold(pool);
  assert.equal(pool.needsDrain, false);
  const two = await hold(pool);
  assert.equal(pool.needsDrain, true);
  const third = pool.run('third');
  one.release();
  two.release();
  await Promise.all([one.ended, two.ended, third]);
  assert.equal(pool.needsDrain, false);
  await Promise.resolve();
  assert.deepEqual(events, [
    ['needsDrain', true],
    ['drain', false],
  ]);
});

test('a stream that pauses while the queue is full, and goes on at drain', async (t) => {
  const pool = open(t, { maxThreads: 2, maxQueue: 'auto' });
  assert.equal(pool.options.maxQueue, 4);
  const items = Array.from({ length: 200 }, (_, n) => n);
  const stream = Readable.from(items);
  const calls = [];
  let pauses = 0;
  pool.on('drain', () => stream.resume());
  stream.on('data', (item) => {
    calls.push(pool.run(item));
    if (pool.queueSize < pool.options.maxQueue) return;
    pauses++;
    stream.pause();
  });
  await once(stream, 'end');
  assert.deepEqual(await Promise.all(calls), items);
  assert.ok(pauses > 0);
});

test('histograms have the times of tasks in ms', async (t) => {
  const pool = open(t, { workerHistogram: true, loadBalancer: (_task, [worker]) => worker });
  assert.equal(pool.utilization, 0);
  const created = once(pool, 'workerCreate');
  await Promise.all([pool.run(20, { name: 'wait' }), pool.run(40, { name: 'wait' })]);
  const [worker] = await created;
  const { runTime, waitTime } = pool.histogram;
  for (const { min, max, mean, average, p0_001, p50, p99_999 } of [runTime, worker.histogram]) {
    // Timers may be early by a part of a ms.
    assert.ok(min >= 19 && max >= 39, `${min} to ${max}`);
    assert.ok(min <= mean && mean <= max && mean === average, `${min}, ${mean}, ${max}`);
    assert.ok(min <= p0_001 && p0_001 <= p50 && p50 <= p99_999 && p99_999 <= max);
    assert.ok(p99_999 >= 39);
  }
  // The second waited for the first.
  assert.ok(waitTime.max >= 19, waitTime.max);
  assert.ok(pool.utilization > 0 && pool.utilization <= 1);
  assert.equal(pool.completed, 2);

  pool.histogram.resetRunTime();
  assert.equal(pool.histogram.runTime.max, 0);
  assert.equal(pool.histogram.waitTime.max, waitTime.max);
  pool.histogram.resetWaitTime();
  assert.equal(pool.histogram.waitTime.max, 0);
});

test('the content of a Transferable is moved, from and to a worker', async (t) => {
  const pool = open(t);
  const tree = await pool.run(null, { name: 'grow' });
  assert.deepEqual(tree, { left: { bytes: new Uint8Array(5) }, right: new Uint8Array(10) });
  assert.deepEqual(await pool.run(null, { name: 'left' }), [0, 0]);

  const mine = move({
    get [transferableSymbol]() {
      return [tree.left.bytes.buffer, tree.right.buffer];
    },
    get [valueSymbol]() {
      return { ...tree };
    },
  });
  assert.deepEqual(await pool.run(mine, { name: 'sizes' }), [5, 10]);
  assert.deepEqual([tree.left.bytes.byteLength, tree.right.byteLength], [0, 0]);

  const { port1, port2 } = new MessageChannel();
  const message = once(port1, 'message');
  await pool.run(move(port2), { name: 'answer' });
  assert.equal((await message)[0].data ?? (await message)[0], 'through the port');
});

test('the context of the caller is there after its calls, that of its maker in events', async (t) => {
  const storage = new AsyncLocalStorage();
  const pool = storage.run('maker', () => open(t));
  const inEvents = [];
  for (const event of ['needsDrain', 'drain', 'message']) {
    pool.on(event, () => inEvents.push(storage.getStore()));
  }
  const call = (who) =>
    storage.run(who, async () => {
      const seen = [];
      assert.equal(await pool.run(who), who);
      seen.push(storage.getStore());
      await pool.run(who, { name: 'fail' }).catch(() => seen.push(storage.getStore()));
      await pool.run(who, { signal: new AbortController().signal });
      seen.push(storage.getStore());
      return seen;
    });
  const callers = Array.from({ length: 20 }, (_, n) => `caller ${n}`);
  const seen = await Promise.all(callers.map(call));
  assert.deepEqual(
    seen,
    callers.map((who) => [who, who, who]),
  );
  const { release, ended } = await storage.run('caller', () => hold(pool));
  release();
  await ended;
  assert.ok(inEvents.length >= 3);
  assert.deepEqual(new Set(inEvents), new Set(['maker']));
});

test("an error after its task's end is an event, and the pool goes on", async (t) => {
  const pool = open(t);
  const errors = on(pool, 'error');
  // A worker without a task keeps no process alive.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  await pool.run('too late', { name: 'failLater' });
  const { value } = await errors.next();
  assert.equal(value[0].message, 'too late');
  assert.equal(await pool.run('next'), 'next');
});

test("a task's own error keeps its kind, message and stack", async (t) => {
  const pool = open(t);
  await assert.rejects(pool.run('out of range', { name: 'fail' }), (error) => {
    assert.ok(error instanceof RangeError);
    assert.equal(error.message, 'out of range');
    assert.match(error.stack, /tasks\.js/);
    return true;
  });
});

test('a message to all workers reaches each', async (t) => {
  const pool = open(t, { minThreads: 2, maxThreads: 2, atomics: 'disabled' });
  const name = `piscina-api ${process.pid}`;
  const messages = on(pool, 'message');
  const heard = Promise.all([pool.run(name, { name: 'hear' }), pool.run(name, { name: 'hear' })]);
  for (let left = 2; left > 0; left--) assert.deepEqual((await messages.next()).value, ['hears']);
  const channel = new BroadcastChannel(name);
  t.after(() => channel.close());
  channel.postMessage('to all');
  assert.deepEqual(await heard, ['to all', 'to all']);
});

for (const how of [Symbol.dispose, Symbol.asyncDispose]) {
  test(`at the end of its block (${String(how)}) what was called is done, and the pool closed`, async (t) => {
    const pool = open(t);
    const closed = once(pool, 'close');
    const calls = Array.from({ length: 10 }, (_, n) => pool.run(n));
    const disposed = pool[how]();
    await assert.rejects(pool.run('late'), {
      code: 'MILLRACE_E_CLOSED',
      name: 'AbortError',
      message: 'The task has been aborted',
      cause: 'queue is being terminated',
    });
    assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(disposed instanceof Promise, how === Symbol.asyncDispose);
    await disposed;
    await closed;
    assert.deepEqual(pool.threads, []);
    await pool.close();
    await pool.destroy();
  });
}

test('close with force rejects what waits, and what workers have room for ends', async (t) => {
  const pool = open(t, { concurrentTasksPerWorker: 2 });
  const begun = [pool.run(1), pool.run(2)];
  const waits = pool.run(3);
  const rejected = assert.rejects(waits, { name: 'AbortError', code: 'MILLRACE_E_CLOSED' });
  await pool.close({ force: true });
  assert.deepEqual(await Promise.all(begun), [1, 2]);
  await rejected;
});

test('a worker that is started for a task is reported before its result', async (t) => {
  const pool = open(t, { minThreads: 0 });
  assert.deepEqual(pool.threads, []);
  let created = 0;
  pool.on('workerCreate', () => created++);
  await pool.run('task');
  assert.equal(created, 1);
});

test('a process lives while a task waits for a worker that has only aborted ones', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['piscina-api/alive.js'], {
    cwd: dirname,
  });
  assert.equal(stdout, 'MILLRACE_E_ABORTED\nMILLRACE_E_ABORTED\nthird\n');
});

test("a property of all objects is no option, neither of a pool nor of a worker's", async (t) => {
  const polluted = { execArgv: ['--no-such-flag'], loadBalancer: () => null, env: { A: '1' } };
  for (const [key, value] of Object.entries(polluted)) {
    Object.defineProperty(Object.prototype, key, { value, configurable: true });
  }
  try {
    const pool = open(t);
    for (const key of Object.keys(polluted)) assert.equal(pool.options[key], undefined);
    assert.equal(await pool.run('task'), 'task');
  } finally {
    for (const key of Object.keys(polluted)) delete Object.prototype[key];
  }
});

const add = { a: 4, b: 6 };
const shapes = [
  ['function.cjs', undefined, 10],
  ['functions.cjs', undefined, 10],
  ['functions.cjs', 'add', 10],
  ['functions.cjs', 'multiply', 24],
  ['promises.cjs', undefined, 10],
  ['promises.mjs', undefined, 10],
  ['promises.mjs', 'default', 10],
  ['promises.mjs', 'multiply', 24],
];

test('functions as CommonJS and ES modules export them, or promises of them', async (t) => {
  const pool = open(t);
  for (const [name, of, result] of shapes) {
    const filename = file(name);
    const task = of === undefined ? add : { ...add };
    for (const where of [filename, filename.href, filename.pathname]) {
      assert.equal(await pool.run(task, { filename: where, name: of }), result, `${where} ${of}`);
    }
  }
  assert.deepEqual(await pool.run(null, { name: 'about' }), [true, true]);
});

test('require() gives the class, and on it what else there is', () => {
  const required = require('@millrace/pool');
  assert.equal(required, Pool);
  const { default: main, 'module.exports': cjs, ...names } = exported;
  assert.deepEqual([main, cjs], [Pool, Pool]);
  const own = new Set(Object.getOwnPropertyNames(required));
  for (const name of ['length', 'name', 'prototype']) own.delete(name);
  assert.deepEqual(own, new Set(Object.keys(names)));
  for (const [name, value] of Object.entries(names)) assert.equal(required[name], value, name);
});

test('files that a compiler has to load, and to which it gives a copy of this module', async () => {
  const args = ['--no-warnings', '--import', 'tsx', 'piscina-api/compiled/main.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: dirname });
  assert.deepEqual(JSON.parse(stdout), [7, [true, true, 'mine']]);
});
