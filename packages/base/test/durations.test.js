// Times of tasks: percentiles against the exact ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Durations } from '@millrace/base/durations';
import { randomNumbers, seeds } from './random.js';

const percents = [0.001, 1, 2.5, 10, 25, 50, 75, 90, 97.5, 99, 99.9, 99.999, 100];

/** The least of the sorted times that so many percent of them do not exceed. */
const exact = (sorted, percent) =>
  sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)];

function recorded(times) {
  const durations = new Durations();
  for (const ms of times) durations.record(ms);
  return durations;
}

const distributions = {
  'from 1 µs to 100 s': (share) => 0.001 * 10 ** (share * 8),
  'all of much the same': (share) => 5 + share,
  'a few long ones': (share) => (share > 0.99 ? 400 : 0.05 + share / 10),
  'below 30 µs': (share) => 0.001 + share * 0.029,
};

for (const [title, of] of Object.entries(distributions)) {
  test(`exact to 3 %, or 1 µs: ${title}`, () => {
    for (const seed of seeds(5)) {
      const random = randomNumbers(seed);
      const times = Array.from({ length: 1 + random(2000) }, () => of(random(1e6) / 1e6));
      const durations = recorded(times);
      const sorted = times.toSorted((a, b) => a - b);
      for (const percent of percents) {
        const told = durations.percentile(percent);
        const is = exact(sorted, percent);
        const error = Math.abs(told - is);
        const message = `seed ${seed}: p${percent} is ${is}, told ${told}`;
        assert.ok(error <= Math.max(is * 0.032, 0.0011), message);
        // So many percent of them are this or less.
        assert.ok(told > is * (1 - 1e-9), message);
      }
    }
  });
}

test('mean, deviation, extremes and count are exact', () => {
  for (const seed of seeds(5)) {
    const random = randomNumbers(seed);
    const times = Array.from({ length: 1 + random(500) }, () => 0.001 + random(1e6) / 1000);
    const durations = recorded(times);
    const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
    const variance = times.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / times.length;
    const near = (told, is) =>
      assert.ok(Math.abs(told - is) <= 1e-6 * (1 + is), `seed ${seed}: ${told}, ${is}`);
    const { count, meanMs, maxMs } = durations;
    const summary = durations.summary();
    assert.equal(count, times.length);
    near(meanMs, mean);
    near(summary.mean, mean);
    near(summary.average, mean);
    near(summary.stddev, Math.sqrt(variance));
    assert.equal(maxMs, Math.max(...times));
    assert.equal(summary.max, maxMs);
    assert.equal(summary.min, Math.min(...times));
  }
});

test('the summary tells the percentiles that its names say', () => {
  const random = randomNumbers(1);
  const durations = recorded(Array.from({ length: 3000 }, () => 0.01 + random(1e6) / 1000));
  const summary = durations.summary();
  const names = Object.keys(summary).filter((name) => /^p\d/.test(name));
  assert.equal(names.length, 15);
  for (const name of names) {
    const percent = Number(name.slice(1).replace('_', '.'));
    assert.equal(summary[name], durations.percentile(percent), name);
  }
});

test('one time is each of its percentiles', () => {
  const durations = recorded([12.34]);
  for (const percent of percents) assert.equal(durations.percentile(percent), 12.34);
});

test('times that are no times, and very long ones', () => {
  const durations = recorded([-5, 0, Number.NaN]);
  assert.equal(durations.count, 3);
  assert.equal(durations.maxMs, 0.001);
  assert.equal(durations.meanMs, 0.001);
  const week = 7 * 86_400_000;
  const long = recorded([1, 1, week]);
  assert.equal(long.maxMs, week);
  assert.ok(long.percentile(50) <= 1.032);
  // Longer than what is told apart: at least as long as that.
  assert.ok(long.percentile(100) >= 2_000_000);
});

test('an added value counts as if it had been recorded', () => {
  const random = randomNumbers(2);
  const times = Array.from({ length: 2000 }, () => 0.01 + random(1e6) / 1000);
  const both = recorded(times.slice(0, 700));
  both.add(recorded(times.slice(700)));
  both.add(new Durations());
  const { mean, average, stddev, ...summary } = both.summary();
  const { mean: exactMean, average: _, stddev: exactDeviation, ...all } = recorded(times).summary();
  assert.deepEqual(summary, all);
  assert.ok(Math.abs(mean - exactMean) < 1e-9 && average === mean);
  assert.ok(Math.abs(stddev - exactDeviation) < 1e-6);
});

test('reset forgets all of it', () => {
  const durations = recorded([1, 1, 1, 1, 1000]);
  durations.reset();
  assert.deepEqual(durations.summary(), new Durations().summary());
  assert.equal(durations.count, 0);
  for (const ms of [2, 3, 4]) durations.record(ms);
  assert.ok(Math.abs(durations.percentile(50) - 3) < 0.1);
  assert.equal(durations.summary().min, 2);
  assert.equal(durations.maxMs, 4);
});
