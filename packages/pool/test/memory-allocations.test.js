/** The log of what a pool allocates. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { logAllocations } from '../dist/workers.js';

const allocation = {
  at: Date.UTC(2026, 0, 31, 12),
  reason: 'load',
  workers: 3,
  maxThreads: 4,
  queued: 120,
  running: 3,
  coreLimit: null,
  memory: { reservedBytes: 393.2 * 2 ** 20, limitBytes: 2 ** 31, throttled: false },
};

test('a line for each allocation', () => {
  const pool = new EventEmitter();
  const lines = [];
  logAllocations(pool, (...line) => lines.push(line));
  pool.emit('allocation', allocation);
  pool.emit('allocation', {
    ...allocation,
    reason: 'memory',
    queued: 1,
    memory: { ...allocation.memory, throttled: true },
  });
  pool.emit('allocation', { ...allocation, reason: 'cores', coreLimit: 1 });
  assert.deepEqual(lines, [
    [
      '2026-01-31T12:00:00.000Z pool: load, 3 of 4 workers, 120 tasks queued, 3 running, memory reserved 393 of 2048 MB',
    ],
    [
      '2026-01-31T12:00:00.000Z pool: memory, 3 of 4 workers, 1 task queued, 3 running, memory reserved 393 of 2048 MB, throttled',
    ],
    [
      '2026-01-31T12:00:00.000Z pool: cores, 3 of 4 workers, 120 tasks queued, 3 running, memory reserved 393 of 2048 MB, cores for 1',
    ],
  ]);
});

test('it ends, and leaves other listeners alone', () => {
  const pool = new EventEmitter();
  const lines = [];
  const others = [];
  pool.on('allocation', (each) => others.push(each));
  const stop = logAllocations(pool, (line) => lines.push(line));
  const stopSecond = logAllocations(pool, (line) => lines.push(line));
  pool.emit('allocation', allocation);
  assert.equal(lines.length, 2);
  stop();
  stop();
  pool.emit('allocation', allocation);
  assert.equal(lines.length, 3);
  stopSecond();
  pool.emit('allocation', allocation);
  assert.equal(lines.length, 3);
  assert.deepEqual(others, [allocation, allocation, allocation]);
  assert.equal(pool.listenerCount('allocation'), 1);
});

test('by default on the console', (t) => {
  const log = t.mock.method(console, 'log', () => {});
  const pool = new EventEmitter();
  const stop = logAllocations(pool);
  pool.emit('allocation', allocation);
  stop();
  assert.equal(log.mock.callCount(), 1);
  assert.match(log.mock.calls[0].arguments[0], /3 of 4 workers/);
});

test('anything but a function is refused, and nobody listens', () => {
  const pool = new EventEmitter();
  for (const log of [null, console, 'log']) {
    assert.throws(() => logAllocations(pool, log), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  }
  assert.equal(pool.listenerCount('allocation'), 0);
});
