// CPU tasks step back while memory is short, or others use the cores. Injected: what memory and cores are said to be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stillClock } from '../../base/test/clocks.js';
import { settingsOf } from '../dist/options.js';
import { FairQueue } from '../dist/queue.js';
import { Scheduler } from '../dist/scheduler.js';
import { Functions, Task } from '../dist/task.js';
import { newGate, repeat, stillWorkers, tasks, until } from './support.js';

/** What a pool is without its interface, with a memory of its own. */
async function open(t, options) {
  const settings = settingsOf({
    filename: tasks,
    minThreads: 1,
    maxThreads: 2,
    idleTimeout: Number.POSITIVE_INFINITY,
    ...options,
  });
  const reasons = [];
  const messages = [];
  const scheduler = new Scheduler(settings, new FairQueue(settings.aging), {
    emit: (event, value) => event === 'message' && messages.push(value),
    allocated: (reason) => reasons.push(reason),
  });
  t.after(() => scheduler.destroy());
  const { memory, cores } = scheduler.workers;
  const state = { throttled: false, allowed: Number.POSITIVE_INFINITY, looks: 0 };
  const look = memory.look.bind(memory);
  memory.look = () => ({ ...look(), throttled: state.throttled });
  if (cores !== null) {
    cores.allowed = () => {
      state.looks++;
      return state.allowed;
    };
  }
  const functions = new Functions();
  const run = (argument, name = 'holdBeside') =>
    new Promise((resolve, reject) => {
      const of = functions.get(settings.filename, name);
      scheduler.submit(new Task(of, argument, 1, performance.now(), resolve, reject, null));
    });
  const stats = () => scheduler.stats();
  return { run, state, stats, reasons, messages, scheduler };
}

test('one task at a time, and no more workers, until there is enough again', async (t) => {
  const { run, state, stats, reasons, messages, scheduler } = await open(t, {
    concurrentTasksPerWorker: 3,
  });
  for (let n = 0; n < 20; n++) await run({});
  state.throttled = true;
  const gates = repeat(8, newGate);
  const calls = gates.map(({ cell }, n) => run({ gate: cell, n, say: `${n}` }));
  for (let n = 0; n < 3; n++) {
    await until(() => messages.length === n + 1);
    const { running, queued, throttled, workers } = stats();
    assert.deepEqual(
      { running, waiting: queued.total, throttled, workers: workers.total },
      { running: 1, waiting: 7 - n, throttled: true, workers: 1 },
    );
    gates[n].open();
    assert.equal(await calls[n], n);
  }
  assert.deepEqual(reasons, ['memory']);
  await until(() => messages.length === 4);
  state.throttled = false;
  // By itself, while one is held.
  await until(() => stats().running > 1);
  assert.equal(stats().throttled, false);
  assert.deepEqual(reasons.slice(0, 2), ['memory', 'memory']);
  for (const gate of gates) gate.open();
  assert.deepEqual(
    await Promise.all(calls),
    repeat(8, (n) => n),
  );
  assert.equal(scheduler.queue.size, 0);
});

test('tasks that run when memory becomes short end as usual', async (t) => {
  const { run, state, stats } = await open(t, { maxThreads: 1 });
  const gate = newGate();
  const calls = repeat(5, (n) => run({ gate: gate.cell, n }));
  state.throttled = true;
  gate.open();
  assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3, 4]);
  assert.equal(stats().failed, 0);
});

const started = async (scheduler, count) => {
  await scheduler.workers.prewarm(count);
  assert.equal(scheduler.stats().workers.total, count);
};

test('no more workers have tasks than cores are idle, until more are', async (t) => {
  const { run, state, stats, reasons, messages, scheduler } = await open(t, {
    maxThreads: 3,
    idleCores: true,
  });
  await started(scheduler, 3);
  assert.deepEqual(reasons, ['load', 'load']);
  state.allowed = 2;
  const gates = repeat(6, newGate);
  const calls = gates.map(({ cell }, n) => run({ gate: cell, n, say: `${n}` }, 'hold'));
  await until(() => messages.length === 2);
  assert.deepEqual(reasons.slice(2), ['cores']);
  const { running, queued, coreLimit, throttled, workers } = stats();
  assert.deepEqual(
    { running, waiting: queued.total, coreLimit, throttled, busy: workers.busy },
    { running: 2, waiting: 4, coreLimit: 2, throttled: false, busy: 2 },
  );
  state.allowed = 1;
  await until(() => stats().coreLimit === 1);
  // One of two ends: none begins in its place.
  gates[0].open();
  assert.equal(await calls[0], 0);
  assert.equal(stats().running, 1);
  gates[1].open();
  await until(() => messages.length === 3);
  assert.equal(stats().running, 1);
  state.allowed = Number.POSITIVE_INFINITY;
  // By itself, while one is held.
  await until(() => messages.length === 5);
  assert.deepEqual([stats().running, stats().coreLimit], [3, null]);
  assert.deepEqual(reasons.slice(2), ['cores', 'cores', 'cores']);
  for (const gate of gates) gate.open();
  assert.deepEqual(
    await Promise.all(calls),
    repeat(6, (n) => n),
  );
});

test('as many idle cores as there may be workers, or more, are no limit', async (t) => {
  const { run, state, stats, reasons, scheduler } = await open(t, { idleCores: true });
  await started(scheduler, 2);
  state.allowed = 2;
  await Promise.all(repeat(4, () => run({})));
  assert.equal(stats().coreLimit, null);
  assert.ok(state.looks > 0);
  assert.ok(!reasons.includes('cores'));
});

test('no more workers start than cores are idle', async (t) => {
  const { run, state, stats, messages, scheduler } = await open(t, { idleCores: true });
  state.allowed = 1;
  await scheduler.workers.prewarm(2);
  const gates = repeat(2, newGate);
  const calls = gates.map(({ cell }, n) => run({ gate: cell, n, say: `${n}` }, 'hold'));
  await until(() => messages.length === 1);
  assert.equal(stats().workers.total, 1);
  state.allowed = 2;
  await until(() => messages.length === 2);
  assert.equal(stats().workers.total, 2);
  for (const gate of gates) gate.open();
  assert.deepEqual(await Promise.all(calls), [0, 1]);
});

test('short tasks travel together all the same, and idle workers take over none of them', async (t) => {
  stillClock(t);
  const { run, state, stats, scheduler } = await open(t, { idleCores: true, ...stillWorkers });
  await started(scheduler, 2);
  state.allowed = 1;
  for (let n = 0; n < 40; n++) await run({}, 'hold');
  const { batches, completed } = stats();
  let mostBusy = 0;
  const calls = repeat(2000, () =>
    run({}, 'hold').then(() => {
      mostBusy = Math.max(mostBusy, stats().workers.busy);
    }),
  );
  await Promise.all(calls);
  assert.equal(mostBusy, 1);
  const after = stats();
  assert.equal(after.completed - completed, 2000);
  assert.ok(after.batches - batches < 1000, `${after.batches - batches}`);
});

test('tasks of one worker that wait beside one another take one core', async (t) => {
  const { run, state, stats, scheduler, messages } = await open(t, {
    concurrentTasksPerWorker: 3,
    idleCores: true,
  });
  await started(scheduler, 2);
  state.allowed = 1;
  const gates = repeat(5, newGate);
  const calls = gates.map(({ cell }, n) => run({ gate: cell, n, say: `${n}` }));
  await until(() => messages.length === 3);
  assert.deepEqual([stats().running, stats().workers.busy], [3, 1]);
  for (const gate of gates) gate.open();
  assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3, 4]);
});

test('a balancer gets workers for no more tasks than cores are idle', async (t) => {
  const { run, state, stats, scheduler, messages } = await open(t, {
    idleCores: true,
    loadBalancer: (_, workers) => workers.find((each) => each.currentUsage === 0) ?? null,
  });
  await started(scheduler, 2);
  state.allowed = 1;
  const gates = repeat(3, newGate);
  const calls = gates.map(({ cell }, n) => run({ gate: cell, n, say: `${n}` }, 'hold'));
  await until(() => messages.length === 1);
  assert.deepEqual([stats().running, stats().workers.busy], [1, 1]);
  gates[0].open();
  await until(() => messages.length === 2);
  for (const gate of gates) gate.open();
  assert.deepEqual(await Promise.all(calls), [0, 1, 2]);
});

test('nobody looks at the cores for one task after the other, or where they do not count', async (t) => {
  const one = await open(t, { idleCores: true });
  for (let n = 0; n < 5; n++) await one.run({});
  assert.equal(one.state.looks, 0);
  const none = await open(t, {});
  assert.equal(none.scheduler.workers.cores, null);
  await Promise.all(repeat(10, () => none.run({})));
  assert.equal(none.stats().coreLimit, null);
});

test('idle cores count where the number of threads follows the CPUs, unless it is said', () => {
  const idleCores = (options) => settingsOf(options).idleCores;
  assert.deepEqual(
    [{}, { minThreads: 1 }, { maxThreads: 2 }, { minThreads: 1, maxThreads: 1 }].map(idleCores),
    [true, false, false, false],
  );
  assert.equal(idleCores({ idleCores: false }), false);
  assert.equal(idleCores({ maxThreads: 2, idleCores: true }), true);
});

test('the shares of memory at which tasks step back', () => {
  const shares = (options) => {
    const { throttleAbove, throttleBelow } = settingsOf(options);
    return [throttleAbove, throttleBelow].map((share) => Number(share.toFixed(6)));
  };
  assert.deepEqual(shares({}), [0.92, 0.85]);
  assert.deepEqual(shares({ throttleAbove: 0.5 }), [0.5, 0.43]);
  assert.deepEqual(shares({ throttleAbove: 1 }), [1, 0.85]);
  assert.deepEqual(shares({ throttleAbove: 0.05 }), [0.05, 0]);
  assert.deepEqual(shares({ throttleBelow: 0.9 }), [0.92, 0.9]);
  for (const [options, name] of [
    [{ throttleAbove: 0 }, 'throttleAbove'],
    [{ throttleAbove: 1.1 }, 'throttleAbove'],
    [{ throttleAbove: Number.NaN }, 'throttleAbove'],
    [{ throttleBelow: -0.1 }, 'throttleBelow'],
    [{ throttleBelow: 0.92 }, 'throttleBelow'],
    [{ throttleAbove: 0.5, throttleBelow: 0.5 }, 'throttleBelow'],
    [{ throttleBelow: '0.5' }, 'throttleBelow'],
    [{ idleCores: 1 }, 'idleCores'],
  ]) {
    const message = new RegExp(`'${name}' is .*; it must be`);
    assert.throws(() => settingsOf(options), { code: 'MILLRACE_E_INVALID_OPTION', message });
  }
});

test('a pool is throttled by its own shares', async (t) => {
  const { scheduler } = await open(t, { throttleAbove: 0.01 });
  // The memory of every machine that runs this is used to a hundredth.
  const watch = scheduler.workers.memory;
  assert.equal(Object.getPrototypeOf(watch).look.call(watch).throttled, true);
});
