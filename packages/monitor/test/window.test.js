/** What was measured is that of the last window: histogram and utilization on times that the test makes up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DelayWindow, SlidingUtilization } from '../dist/measures.js';

const near = (actual, expected, share = 0.01) =>
  assert.ok(Math.abs(actual - expected) <= share * expected, `${actual} is not ${expected}`);

test('percentiles of a window', () => {
  const delays = new DelayWindow(1000, 0);
  for (let i = 1; i <= 100; i++) delays.record(i, 500);
  const { count, min, mean, p50, p90, p99, max } = delays.read(500);
  assert.equal(count, 100);
  near(min, 1);
  near(mean, 50.5);
  near(p50, 50);
  near(p90, 90);
  near(p99, 99);
  near(max, 100);
});

test('delays leave with the window, not sooner than three quarters of it', () => {
  const delays = new DelayWindow(1000, 0);
  delays.record(80, 100);
  delays.record(5, 800);
  assert.equal(delays.read(900).count, 2);
  near(delays.read(900).max, 80);
  near(delays.read(1100).max, 5);
  assert.equal(delays.read(1100).count, 1);
  assert.deepEqual(delays.read(1801), {
    count: 0,
    min: 0,
    mean: 0,
    p50: 0,
    p90: 0,
    p99: 0,
    max: 0,
  });
});

test('after a gap that is longer than the window only what came then is in it', () => {
  const delays = new DelayWindow(1000, 123.4);
  for (let at = 200; at < 1200; at += 10) delays.record(80, at);
  delays.record(7, 60_000);
  const { count, min, max } = delays.read(60_000);
  assert.equal(count, 1);
  near(min, 7);
  near(max, 7);
});

test('delays of 0 and of a day are taken, too', () => {
  const delays = new DelayWindow(1000, 0);
  delays.record(0, 1);
  delays.record(86_400_000, 2);
  assert.equal(delays.read(3).count, 2);
  near(delays.read(3).max, 3_600_000);
});

/** A loop that is busy for a share of each step. */
function loop(utilization, { from, to, step, share, idle }) {
  let sum = idle;
  for (let at = from + step; at <= to; at += step) {
    sum += step * (1 - share);
    utilization.mark(at, sum);
  }
  return sum;
}

test('utilization is that of the window, not since the beginning', () => {
  const utilization = new SlidingUtilization(1000, 0, 0);
  const idle = loop(utilization, { from: 0, to: 10_000, step: 10, share: 0, idle: 0 });
  assert.equal(utilization.read(10_000, idle), 0);
  const half = loop(utilization, { from: 10_000, to: 10_500, step: 10, share: 1, idle });
  near(utilization.read(10_500, half), 0.5);
  const full = loop(utilization, { from: 10_500, to: 11_000, step: 10, share: 1, idle: half });
  near(utilization.read(11_000, full), 1);
  const after = loop(utilization, { from: 11_000, to: 12_000, step: 10, share: 0.25, idle: full });
  near(utilization.read(12_000, after), 0.25, 0.05);
});

test('utilization of a beginning that is shorter than the window', () => {
  const utilization = new SlidingUtilization(1000, 5000, 300);
  assert.equal(utilization.read(5000, 300), 0);
  assert.equal(utilization.read(5010, 300), 1);
  assert.equal(utilization.read(5100, 375), 0.25);
});

test('values from before the window are forgotten when it is read, too', () => {
  const utilization = new SlidingUtilization(1000, 0, 0);
  utilization.mark(1000, 0);
  // Asleep from 1,000 to 2,000, and busy since.
  assert.equal(utilization.read(3000, 1000), 1);
});

test('work after a long sleep counts as of now, and is gone a window later', () => {
  const utilization = new SlidingUtilization(1000, 0, 0);
  // The loop slept for 9,400 ms and worked for 600.
  assert.equal(utilization.read(10_000, 9400), 0.6);
  utilization.mark(10_000, 9400);
  near(utilization.read(10_500, 9900), 0.5);
  near(utilization.read(10_800, 10_200), 0.2);
  assert.equal(utilization.read(11_000, 10_400), 0);
  assert.equal(utilization.read(99_000, 98_400), 0);
});
