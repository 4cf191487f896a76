/** When a loop counts as overloaded: the rule alone, on times that the test makes up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Overload } from '../dist/measures.js';

const options = { limit: 40, lower: 20, calm: 3, sampleInterval: 10 };

/** Feeds delays, one each sample interval; the changes that come, with their numbers. */
function feed(delays, { from = 0, overload = new Overload(), step = 10 } = {}) {
  const changes = [];
  for (const [i, delay] of delays.entries()) {
    const change = overload.turn(delay, from + (i + 1) * step, options);
    if (change !== null) changes.push(`${i} ${change}`);
  }
  return changes;
}

test('load above the limit, not at it', () => {
  assert.deepEqual(feed([39, 40]), []);
  assert.deepEqual(feed([40, 40.1]), ['1 load']);
});

test('load is emitted once, however long it lasts', () => {
  assert.deepEqual(feed([50, 50, 50, 50]), ['0 load']);
});

test('unload after so many calm samples, at the lower bound or below', () => {
  assert.deepEqual(feed([50, 20, 20, 20]), ['0 load', '3 unload']);
  assert.deepEqual(feed([50, 20.1, 20, 20]), ['0 load']);
  assert.deepEqual(feed([50, 20.1, 20, 20, 20]), ['0 load', '4 unload']);
});

test('between the bounds nothing changes', () => {
  assert.deepEqual(feed([30, 30, 30, 30, 30]), []);
  assert.deepEqual(feed([50, 30, 30, 30, 30, 30]), ['0 load']);
});

test('a sample that is not calm begins the count anew', () => {
  assert.deepEqual(feed([50, 1, 1, 30, 1, 1, 1]), ['0 load', '6 unload']);
  assert.deepEqual(feed([50, 1, 1, 50, 1, 1, 1]), ['0 load', '6 unload']);
});

test('turns within a sample count as one, by the worst', () => {
  const overload = new Overload();
  assert.deepEqual(feed([50], { overload }), ['0 load']);
  // 28 short turns within one and a half intervals: as samples, three of them would be enough.
  assert.deepEqual(feed(Array(28).fill(0.1), { overload, from: 10, step: 0.5 }), []);
  // One that is not calm spoils the sample.
  assert.deepEqual(feed([30, 1, 1, 1, 1], { overload, from: 24, step: 0.5 }), []);
  assert.deepEqual(feed(Array(20).fill(1), { overload, from: 27, step: 0.4 }), []);
  assert.equal(overload.overLimit, true);
});

test('a turn that is not over yet can be too long, and is reported once', () => {
  const overload = new Overload();
  assert.equal(overload.peek(40, 0, options), null);
  assert.equal(overload.peek(41, 1, options), 'load');
  assert.equal(overload.turn(60, 20, options), null);
  assert.equal(overload.overLimit, true);
});
