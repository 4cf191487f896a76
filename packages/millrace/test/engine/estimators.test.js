// The estimators: pure, so each is a table or compared with its definition.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import {
  Comparison,
  Costs,
  foldRate,
  readRate,
  TimeLimit,
  Utilization,
} from '../../dist/engine/policy.js';

const near = (actual, expected, what) =>
  assert.ok(
    Math.abs(actual - expected) < 1e-9 + Math.abs(expected) * 1e-9,
    `${what}: ${actual} is not ${expected}`,
  );

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

test('a clock that goes back or gives NaN leaves a rate that decays again from then on', () => {
  for (const wrong of [-1e9, Number.NaN]) {
    const rate = { value: 1, at: 1e6 };
    assert.equal(readRate(rate, wrong), 1);
    foldRate(rate, 0, wrong);
    foldRate(rate, 0, 2e6);
    assert.ok(rate.value <= 1);
    near(readRate(rate, 2e6 + 100), rate.value / 2, `after ${wrong}`);
  }
});

test('a clock that goes back starts the utilization anew', () => {
  for (const back of [0, 10, 999_000]) {
    const utilization = new Utilization(0);
    utilization.observe(999_900, 1e6, 100);
    near(utilization.read(1e6), 100 / 225, `before ${back}`);
    assert.equal(utilization.read(back), 0);
    utilization.observe(back, back + 40, 10);
    near(utilization.read(back + 40), 0.25, `back to ${back}`);
  }
});

test('an invalid busy time leaves the utilization as it is', () => {
  const utilization = new Utilization(0);
  utilization.observe(0, 10, 5);
  utilization.observe(10, 20, Number.NaN);
  utilization.observe(10, 20, -5);
  utilization.observe(Number.NaN, 20, 5);
  utilization.observe(10, Number.NaN, 5);
  assert.equal(utilization.read(20), 0.25);
});

/** The definition: the two costs with the least sum of squares, older batches counting half for each second. */
function squares(samples, batch, event) {
  const last = samples.at(-1).now;
  return samples.reduce(
    (sum, { types, events, ms, now }) =>
      sum + (ms - batch * types - event * events) ** 2 * 2 ** ((now - last) / 1000),
    0,
  );
}

test('costs are those of the least squares, as long as neither is below 0', () => {
  let told = 0;
  for (const seed of seeds(100)) {
    const random = randomNumbers(seed);
    const costs = new Costs();
    const samples = [];
    let now = 0;
    for (let i = 0; i < 20; i++) {
      now += random(500);
      const [types, events] = [1 + random(5), 5 + random(100)];
      const ms = types * 0.4 + events * 0.1 + random(10) / 10;
      costs.add(types, events, ms, now);
      samples.push({ types, events, ms, now });
    }
    assert.ok(costs.batch >= 0 && costs.event >= 0, `seed ${seed}`);
    if (costs.batch === 0 || costs.event === 0) continue;
    told++;
    const least = squares(samples, costs.batch, costs.event);
    for (const [b, e] of [
      [0.01, 0],
      [-0.01, 0],
      [0, 0.01],
      [0, -0.01],
    ]) {
      assert.ok(squares(samples, costs.batch + b, costs.event + e) > least, `seed ${seed}`);
    }
  }
  assert.ok(told > 20);
});

test('costs survive a clock that goes back or gives NaN', () => {
  const costs = new Costs();
  costs.add(1, 1, 1.1, 1e6);
  costs.add(1, 10, 2, 5);
  near(costs.batch, 1, 'batch');
  costs.add(1, 5, 1.5, Number.NaN);
  costs.add(1, 5, 1.5, 10);
  near(costs.batch, 1, 'batch');
  near(costs.event, 0.1, 'event');
});

/** The limit after each batch of [events, ms, time at which it was done]. */
function limited(...batches) {
  const limit = new TimeLimit();
  const options = { maxBatch: 100, maxBatchTime: 5 };
  return batches.map(([events, ms, now = 0]) => {
    limit.add(events, ms, now, options);
    return limit.events;
  });
}

const none = Number.POSITIVE_INFINITY;
const twoLong = [
  [10, 10],
  [10, 10],
];

test('a limit comes with the second batch in a row that takes too long', () => {
  assert.deepEqual(limited(...twoLong), [none, 5]);
  assert.deepEqual(limited([10, 10], [10, 5], [10, 10], [10, 20]), [none, none, none, 2]);
  assert.deepEqual(limited([7, 50], [7, 50], [7, 50]), [none, none, none]);
  assert.deepEqual(limited([10, 10], [7, 1], [10, 10]), [none, none, 5]);
});

test('a limit follows the batches that meet it, and no others', () => {
  const after = (...batches) => limited(...twoLong, ...batches).slice(2);
  assert.deepEqual(after([5, 4]), [5]);
  assert.deepEqual(after([5, 5.2], [4, 4]), [4, 4]);
  assert.deepEqual(after([4, 0.1], [3, 20], [5, 2.4]), [5, 5, 10]);
  assert.deepEqual(after([5, 0], [10, 0], [20, 0], [40, 0], [80, 0]), [10, 20, 40, 80, none]);
});

test('a limit that makes events dearer goes for a back-off', () => {
  const gone = [5, 6, 100];
  const anew = (now) => [
    [10, 10, now],
    [10, 10, now],
  ];
  const after = (...batches) => limited(...twoLong, gone, ...batches).slice(2);
  assert.deepEqual(after(...anew(1099)), [none, none, none]);
  assert.deepEqual(after(...anew(1100)), [none, none, 5]);
  assert.deepEqual(after(...anew(-1e6)), [none, none, 5]);
  assert.deepEqual(after(...anew(1100), [5, 6, 1100], ...anew(3099)).slice(-2), [none, none]);
  assert.deepEqual(after(...anew(1100), [5, 6, 1100], ...anew(3100)).at(-1), 5);
  const proven = Array.from({ length: 4 }, () => [5, 4, 1100]);
  const shortened = after(...anew(1100), ...proven, [5, 6, 1100], ...anew(2100));
  assert.deepEqual(shortened.slice(-3), [none, none, 5]);
});

/** A comparison that is asked at these times, in which the loop is idle and ten events leave between two of them. */
function asked(...times) {
  const comparison = new Comparison({ busy: () => 0 });
  let left = 0;
  return times.map((now) => {
    left += 10;
    return comparison.ask(now, left, left, 10);
  });
}

const plain = 'comparison window';

test('a window that a clock going back makes endless is thrown away', () => {
  assert.deepEqual(asked(1e9, 1e9, 1e9 + 50), [plain, plain, null]);
  assert.deepEqual(asked(1e9, 1e9, 5, 5, 55), [plain, plain, null, null, plain]);
  const wrong = Number.NaN;
  assert.deepEqual(asked(wrong, wrong, 5, 5, 55), [plain, plain, null, null, plain]);
});

/** Numbers of the windows, of so many, that do not hold. Each is as long as it has to be from `now` on. */
function plainOf(comparison, count, now = 0) {
  const numbers = [];
  let left = 0;
  for (let number = 0; number < count; number++) {
    const why = [0, 0, 50].map((ms) => {
      left += 10;
      return comparison.ask(now + number * 50 + ms, left, left, 10);
    });
    assert.equal(why[0], why[1]);
    if (why[0] === plain) numbers.push(number);
  }
  return numbers;
}

test('windows that do not hold come 8, 16, and so on up to 128 windows after one another', () => {
  const comparison = new Comparison({ busy: () => 0 });
  assert.deepEqual(plainOf(comparison, 500), [0, 2, 8, 24, 56, 120, 248, 376]);
});

test('windows that do not hold come as often as at first when holding was switched off', () => {
  const comparison = new Comparison({ busy: () => 0 });
  plainOf(comparison, 300);
  assert.equal(comparison.askGiven(20_000, -1, null), 'no saving measured');
  assert.deepEqual(plainOf(comparison, 100, 21_000), [0, 2, 8, 24, 56]);
});

test('a back-off lasts no longer than the longest one when the clock goes back', () => {
  const comparison = new Comparison({ busy: () => 0 });
  assert.equal(comparison.askGiven(1e9, -1, null), 'no saving measured');
  assert.equal(comparison.askGiven(1e9 + 999, 1, null), 'no saving measured');
  assert.equal(comparison.askGiven(5, 1, null), null);
});

test('a busy time that is NaN or goes back says nothing about the saving', () => {
  for (const wrong of [Number.NaN, -5]) {
    let now = 0;
    const comparison = new Comparison({ busy: () => wrong * now });
    for (; now < 1000; now += 50) comparison.ask(now, now / 5, now / 5, 10);
    assert.equal(comparison.slowdown, 0);
    assert.equal(comparison.saving, null);
    assert.equal(comparison.ask(1000, 200, 200, 10), null);
  }
});
