// What requests cost beside their handlers, by the clock of the loop.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performance } from '../../../base/test/clocks.js';
import { LoopTime } from '../../dist/loop-time.js';
import { exactClock } from '../http/wire.js';

test('time that no handler accounts for is shared among the requests of its window', (t) => {
  const clock = exactClock(t);
  const time = new LoopTime();
  const start = performance.now();
  time.handled(start, 1);
  time.handled(start, 1);
  clock.pass(120);
  time.account(performance.now());
  // Nearly 60 ms for each, of which a mean takes over a part.
  assert.ok(time.extraMs > 10 && time.extraMs < 60, `${time.extraMs}`);
  assert.equal(time.asyncMs, 0);
});

test('of async requests it is what they did after their handlers had returned, and no more than they took', (t) => {
  const clock = exactClock(t);
  const time = new LoopTime();
  time.handled(performance.now(), 1);
  clock.pass(120);
  time.answered(20);
  time.account(performance.now());
  assert.ok(time.asyncMs > 0 && time.asyncMs <= 20, `${time.asyncMs}`);
});

test('a long time with few requests says nothing about them', (t) => {
  const clock = exactClock(t);
  const time = new LoopTime();
  time.handled(performance.now(), 1);
  clock.pass(10_000);
  time.account(performance.now());
  assert.equal(time.extraMs, 0);
  // And the next window is a new one.
  time.handled(performance.now(), 1);
  clock.pass(120);
  time.account(performance.now());
  assert.ok(time.extraMs > 10, `${time.extraMs}`);
});
