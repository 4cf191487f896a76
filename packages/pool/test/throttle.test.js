// CPU tasks step back while memory is short. Injected: what the memory is said to be.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOf } from '../dist/options.js';
import { FairQueue } from '../dist/queue.js';
import { Scheduler } from '../dist/scheduler.js';
import { Functions, Task } from '../dist/task.js';
import { newGate, repeat, tasks, until } from './support.js';

/** What a pool is without its interface, with a memory of its own. */
async function open(t, options) {
  const settings = settingsOf({ filename: tasks, minThreads: 1, maxThreads: 2, ...options });
  const reasons = [];
  const messages = [];
  const scheduler = new Scheduler(settings, new FairQueue(settings.aging), {
    emit: (event, value) => event === 'message' && messages.push(value),
    allocated: (reason) => reasons.push(reason),
  });
  t.after(() => scheduler.destroy());
  const { memory } = scheduler.workers;
  const state = { throttled: false };
  const look = memory.look.bind(memory);
  memory.look = () => ({ ...look(), throttled: state.throttled });
  const functions = new Functions();
  const of = functions.get(settings.filename, 'holdBeside');
  const run = (argument) =>
    new Promise((resolve, reject) => {
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

test('what is there when memory becomes short ends as it would have', async (t) => {
  const { run, state, stats } = await open(t, { maxThreads: 1 });
  const gate = newGate();
  const calls = repeat(5, (n) => run({ gate: gate.cell, n }));
  state.throttled = true;
  gate.open();
  assert.deepEqual(await Promise.all(calls), [0, 1, 2, 3, 4]);
  assert.equal(stats().failed, 0);
});
