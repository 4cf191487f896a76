// Refusals are held back: in order, bounded, adapting, and never for a client that has left.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rejections } from '../../dist/rejections.js';
import { BareTicket, classes, routeOf } from './tickets.js';

const route = routeOf('GET /', 1);
const rejection = { reason: 'wait', waitMs: 500, retryAfterSeconds: 1 };

class Shed extends BareTicket {
  constructor(name, log, { costMs = 0, gone = false } = {}) {
    super(route, classes.normal, name);
    this.stage = 'shed';
    this.log = log;
    this.costMs = costMs;
    this.isGone = gone;
  }
  gone() {
    return this.isGone;
  }
  shed(given) {
    clock.now += this.costMs;
    assert.equal(given, rejection);
    this.log.push(this.name);
  }
}

/** What the time is in tests that set it. */
const clock = { now: 1000 };

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

test('with a delay of 0 the answer is given at once', () => {
  const log = [];
  const rejections = new Rejections({ min: 0, max: 0 });
  rejections.add(new Shed('a', log), rejection, performance.now());
  assert.deepEqual(log, ['a']);
  assert.equal(rejections.size, 0);
});

test('answers come after the delay, in order, without those whose client has left', async () => {
  const log = [];
  const rejections = new Rejections({ min: 20, max: 20 });
  const now = performance.now();
  rejections.add(new Shed('a', log), rejection, now);
  rejections.add(new Shed('b', log, { gone: true }), rejection, now);
  const left = new Shed('c', log);
  rejections.add(left, rejection, now);
  rejections.add(new Shed('d', log), rejection, now);
  left.stage = 'over';
  assert.deepEqual(log, []);
  assert.equal(rejections.size, 4);
  while (rejections.size > 0) await wait(10);
  assert.ok(performance.now() - now >= 19);
  assert.deepEqual(log, ['a', 'd']);
});

test('flush answers all, and the timer finds nothing more to do', async () => {
  const log = [];
  const rejections = new Rejections({ min: 20, max: 20 });
  for (let i = 0; i < 5000; i++) rejections.add(new Shed(i, log), rejection, performance.now());
  rejections.flush();
  assert.equal(log.length, 5000);
  assert.ok(log.every((name, i) => name === i));
  await wait(40);
  assert.equal(log.length, 5000);
});

test('no more than ten thousand are held back', () => {
  const log = [];
  const rejections = new Rejections({ min: 60_000, max: 60_000 });
  for (let i = 0; i < 10_003; i++) rejections.add(new Shed(i, log), rejection, performance.now());
  assert.deepEqual(log, [0, 1, 2]);
  assert.equal(rejections.size, 10_000);
  rejections.flush();
});

test('the delay grows while refusals take much of the loop, and falls when they do not', () => {
  const log = [];
  const rejections = new Rejections({ min: 10, max: 80 }, () => clock.now);
  const add = (costMs) => {
    rejections.add(new Shed('x', log, { costMs }), rejection, clock.now);
    rejections.flush();
  };
  add(0);
  // One of 6 ms in 260 ms is more than a fiftieth of the time.
  add(6);
  clock.now += 260;
  add(1);
  assert.equal(rejections.delayMs, 40);
  // It helped: the share fell.
  clock.now += 260;
  add(0);
  assert.equal(rejections.delayMs, 40);
  clock.now += 260;
  add(0);
  assert.equal(rejections.delayMs, 20, 'and there is nothing left to save');
});

test('a longer delay that does not help goes back', () => {
  const log = [];
  const rejections = new Rejections({ min: 10, max: 80 }, () => clock.now);
  const add = (costMs) => {
    rejections.add(new Shed('x', log, { costMs }), rejection, clock.now);
    rejections.flush();
  };
  add(0);
  add(8);
  clock.now += 260;
  add(12);
  assert.equal(rejections.delayMs, 40);
  clock.now += 40;
  add(12);
  clock.now += 260;
  add(12);
  assert.equal(rejections.delayMs, 10);
  clock.now += 260;
  add(0);
  assert.equal(rejections.delayMs, 10, 'it is not tried again for a while');
});

test('that few are answered while a longer delay begins is not taken for its effect', () => {
  const rejections = new Rejections({ min: 100, max: 400 }, () => clock.now);
  /** For so long, answers that take so much are given. */
  const pass = (ms, costMs) => {
    for (const end = clock.now + ms; clock.now < end; clock.now += 50) {
      rejections.add(new Shed('x', [], { costMs }), rejection, clock.now);
      rejections.flush();
    }
  };
  rejections.add(new Shed('x', [], {}), rejection, clock.now);
  pass(300, 1);
  assert.equal(rejections.delayMs, 400);
  // Those from before still have the shorter delay; then nobody's time is up until 400 ms are over.
  pass(100, 1);
  pass(300, 0);
  pass(1000, 1);
  assert.equal(rejections.delayMs, 100);
});
