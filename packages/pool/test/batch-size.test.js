// How many tasks go to a worker at once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { batchSize, isShort, replyMs } from '../dist/task.js';

const signals = { waiting: 100_000, workers: 2, meanMs: 0, sendMs: 0, maxBatch: 512 };

test('waiting tasks are divided by twice the number of workers', () => {
  assert.equal(batchSize({ ...signals, waiting: 100, workers: 2 }), 25);
  assert.equal(batchSize({ ...signals, waiting: 101, workers: 2 }), 26);
  assert.equal(batchSize({ ...signals, waiting: 100, workers: 50 }), 1);
  assert.equal(batchSize({ ...signals, waiting: 1, workers: 8 }), 1);
});

test('a batch is at most 1 ms of work', () => {
  const few = { ...signals, waiting: 2000 };
  assert.equal(batchSize({ ...few, meanMs: 0.01 }), 100);
  assert.equal(batchSize({ ...signals, waiting: 100, meanMs: 0.4 }), 2);
  assert.equal(batchSize({ ...signals, waiting: 50, meanMs: 0.9 }), 1);
});

test('up to 4 ms where the last of those that wait will wait for long', () => {
  // 100 ms for each worker, and then 50 times as much.
  assert.equal(batchSize({ ...signals, waiting: 2000, meanMs: 0.1 }), 40);
  assert.equal(batchSize({ ...signals, waiting: 1000, meanMs: 0.1 }), 20);
  assert.equal(batchSize({ ...signals, waiting: 100_000, meanMs: 0.1 }), 40);
  assert.equal(batchSize({ ...signals, meanMs: 0.9 }), 4);
});

test('results leave seldom only while much waits', () => {
  assert.equal(replyMs(10, 40, 2), 0.5);
  assert.equal(replyMs(10, 41, 2), 2);
  assert.equal(replyMs(1, 0, 2), 0.5);
});

test('and at most 1 ms of sending', () => {
  assert.equal(batchSize({ ...signals, meanMs: 0.01, sendMs: 0.25 }), 4);
});

test('a task longer than that goes alone', () => {
  assert.equal(batchSize({ ...signals, meanMs: 50 }), 1);
  assert.equal(batchSize({ ...signals, meanMs: 0.01, sendMs: 20 }), 1);
});

test('the largest batch', () => {
  assert.equal(batchSize(signals), 512);
  assert.equal(batchSize({ ...signals, maxBatch: 7 }), 7);
  assert.equal(batchSize({ ...signals, maxBatch: 1 }), 1);
});

test('until a task has ended they go one by one', () => {
  assert.equal(batchSize({ ...signals, meanMs: null }), 1);
});

test('whatever the signals, it is a whole number from 1 to each of the bounds', () => {
  for (const seed of seeds(20)) {
    const random = randomNumbers(seed);
    const waiting = 1 + random(5000);
    const workers = 1 + random(64);
    const meanMs = random(3000) / 1000;
    const sendMs = random(500) / 1000;
    const maxBatch = 1 + random(512);
    const size = batchSize({ waiting, workers, meanMs, sendMs, maxBatch });
    const message = `seed ${seed}`;
    assert.ok(Number.isInteger(size) && size >= 1, message);
    assert.ok(size <= maxBatch && size <= Math.ceil(waiting / (2 * workers)), message);
    assert.ok(size === 1 || (size * meanMs <= 4 && size * sendMs <= 1), message);
  }
});

test('only tasks that are known to be short are sent ahead', () => {
  assert.equal(isShort(null), false);
  assert.equal(isShort(0.001), true);
  assert.equal(isShort(1.9), true);
  assert.equal(isShort(50), false);
});
