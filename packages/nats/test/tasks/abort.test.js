/** Signals, where tasks share an id. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unable } from '../nats.js';
import { eventually, setUp } from './support.js';

const options = { skip: unable, timeout: 300_000 };

test('of calls that share a task each is ended by its own signal', options, async (t) => {
  const { open, worker, runs } = await setUp(t);
  const calls = open();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = calls.run(1, { id: 'shared', signal: first.signal });
  const two = calls.run(1, { id: 'shared', signal: second.signal });
  const three = calls.run(1, { id: 'shared' });
  first.abort();
  await assert.rejects(one, { name: 'AbortError' });
  second.abort();
  await assert.rejects(two, { name: 'AbortError' });
  await worker();
  assert.equal(await three, 1);
  assert.equal(runs().length, 1);
  const { completed, failed } = calls.stats();
  assert.deepEqual({ completed, failed }, { completed: 1, failed: 0 });
});

test('a shared task is aborted with the last of its calls', options, async (t) => {
  const { open, worker } = await setUp(t);
  const calls = open();
  const controllers = [new AbortController(), new AbortController()];
  const server = await worker({ maxThreads: 1 });
  const both = controllers.map(({ signal }) =>
    calls.run(60_000, { name: 'pause', id: 'shared', signal }),
  );
  const ends = Promise.allSettled(both);
  await eventually(() => server.stats().tasks === 1);
  for (const controller of controllers) controller.abort();
  for (const { reason } of await ends) assert.equal(reason.name, 'AbortError');
  await eventually(() => server.stats().cancelled === 1);
});

test('a task that was aborted does not take a later one of its id with it', options, async (t) => {
  const { open, worker } = await setUp(t);
  const stream = { name: 'tests', duplicateWindow: 10_000 };
  const calls = open({ stream, storeTimeout: 10_000 });
  const server = await worker({ stream });
  const controller = new AbortController();
  const first = calls.run(60_000, { name: 'pause', id: 'same', signal: controller.signal });
  await eventually(() => server.stats().tasks === 1);
  controller.abort();
  await assert.rejects(first, { name: 'AbortError' });
  await eventually(() => server.stats().cancelled === 1);
  const signal = new AbortController().signal;
  for (;;) {
    const again = await calls.run(7, { id: 'same', signal }).catch(({ code }) => code);
    if (again === 7) break;
    assert.equal(again, 'MILLRACE_E_DUPLICATE');
    await sleep(200);
  }
});

test('one signal of thousands of stored tasks ends every call', options, async (t) => {
  const { open } = await setUp(t);
  const calls = open({ storeTimeout: 120_000 });
  const controller = new AbortController();
  const { signal } = controller;
  // In one message their names would be more than the broker takes.
  const all = Array.from({ length: 6000 }, (_, n) =>
    calls.run(n, { id: `${n}`.padEnd(200, '.'), signal }),
  );
  const ends = Promise.allSettled(all);
  await eventually(() => calls.stats().stored === 6000);
  controller.abort();
  for (const { reason } of await ends) assert.equal(reason.name, 'AbortError');
  // The turn at whose end the broker is told.
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(calls.stats().running, 0);
});
