// The estimators: pure, so each is a table or compared with its definition.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { foldRate, Gain, holdsOnRecord, readRate, Utilization } from '../../dist/engine/policy.js';

const near = (actual, expected, what) =>
  assert.ok(
    Math.abs(actual - expected) < 1e-9 + Math.abs(expected) * 1e-9,
    `${what}: ${actual} is not ${expected}`,
  );

test('gain is the mean of the last 16 holds', () => {
  for (const seed of seeds(50)) {
    const random = randomNumbers(seed);
    const gain = new Gain();
    const extras = [];
    assert.deepEqual([gain.value, gain.holds], [0, 0]);
    for (let i = 0; i < 40; i++) {
      const extra = random(20) - 5;
      gain.record(extra);
      extras.push(extra);
      const last = extras.slice(-holdsOnRecord);
      assert.equal(gain.holds, last.length);
      near(gain.value, last.reduce((sum, n) => sum + n, 0) / last.length, `seed ${seed}`);
    }
    gain.clear();
    assert.deepEqual([gain.value, gain.holds], [0, 0]);
  }
});

test('a rate halves every 100 ms, and adds ln 2 / 100 for each event', () => {
  for (const seed of seeds(50)) {
    const random = randomNumbers(seed);
    const rate = { value: 0, at: 0 };
    const history = [];
    let now = 0;
    for (let i = 0; i < 30; i++) {
      now += random(400) / 4;
      const events = random(5);
      foldRate(rate, events, now);
      history.push([now, events]);
      const later = now + random(300);
      const expected = history.reduce(
        (sum, [time, n]) => sum + n * (Math.LN2 / 100) * 2 ** (-(later - time) / 100),
        0,
      );
      near(readRate(rate, later), expected, `seed ${seed}`);
    }
  }
});

test('a steady stream settles at its rate', () => {
  const rate = { value: 0, at: 0 };
  for (let now = 0; now < 3000; now++) foldRate(rate, 2, now);
  assert.ok(Math.abs(readRate(rate, 2999) - 2) < 0.02);
});

test('reading a rate changes nothing', () => {
  const rate = { value: 1, at: 10 };
  readRate(rate, 500);
  assert.deepEqual(rate, { value: 1, at: 10 });
});

/** The definition: busy time of the current slice and the nine before, by the time that they have lasted. */
function utilizationOf(spans, now, start) {
  const begin = Math.max(start, (Math.floor(now / 25) - 9) * 25);
  if (now <= begin) return 0;
  let busy = 0;
  for (const [from, to, share] of spans) {
    busy += Math.max(0, Math.min(to, now) - Math.max(from, begin)) * share;
  }
  return Math.min(1, busy / (now - begin));
}

test('utilization is the busy share of the last ten slices', () => {
  for (const seed of seeds(100)) {
    const random = randomNumbers(seed);
    const start = random(3) === 0 ? 0 : random(10_000);
    const utilization = new Utilization(start);
    const spans = [];
    let now = start;
    for (let i = 0; i < 50; i++) {
      const to = now + (random(4) === 0 ? random(1000) : random(200) / 4);
      const share = random(5) / 4;
      utilization.observe(now, to, (to - now) * share);
      spans.push([now, to, share]);
      now = to;
      near(utilization.read(now), utilizationOf(spans, now, start), `seed ${seed} step ${i}`);
    }
    // Time that nobody observed was idle.
    const later = now + random(300);
    near(utilization.read(later), utilizationOf(spans, later, start), `seed ${seed}, later`);
  }
});

test('utilization is 0 before anything was observed, and never above 1', () => {
  const utilization = new Utilization(0);
  assert.equal(utilization.read(0), 0);
  utilization.observe(0, 0, 5);
  assert.equal(utilization.read(0), 0);
  utilization.observe(0, 10, 50);
  assert.equal(utilization.read(10), 1);
  assert.equal(utilization.read(10_000), 0);
});
