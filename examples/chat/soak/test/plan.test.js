import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAULTS, PLANS, schedule } from '../plan.js';

const hour = { seconds: 3600, every: 60, seed: 3 };
const plan = (options) => schedule(PLANS.faults, options);

test('an hour has a fault each minute, and each kind as often', () => {
  const faults = plan(hour);
  assert.equal(faults.length, 60);
  for (const each of FAULTS) {
    const times = faults.filter(({ fault }) => fault === each).length;
    assert.equal(times, 60 / FAULTS.length, each.name);
  }
  for (const { afterS, choice, slot } of faults) {
    assert.ok(afterS > 0 && afterS < 20, `${afterS}`);
    assert.ok(choice >= 0 && choice < 1);
    assert.ok([2, 3].includes(slot));
  }
  assert.ok(new Set(faults.map(({ afterS }) => afterS)).size > 50, 'the moments differ');
});

test('every rotation has each kind once', () => {
  const order = plan(hour).map(({ fault }) => fault);
  for (let i = 0; i < order.length; i += FAULTS.length) {
    assert.deepEqual(new Set(order.slice(i, i + FAULTS.length)), new Set(FAULTS));
  }
});

test('the seed decides', () => {
  assert.deepEqual(plan(hour), plan(hour));
  assert.notDeepEqual(plan(hour), plan({ ...hour, seed: 4 }));
});

test('the second cycle and the last have a long rest, and one in five between them', () => {
  const long = plan(hour).flatMap(({ hasLongRest }, i) => (hasLongRest ? [i] : []));
  assert.deepEqual(long, [1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56, 59]);
});

test('a calm plan has the same cycles and no fault', () => {
  const calm = schedule(PLANS.calm, hour);
  assert.deepEqual(
    calm.map(({ fault, hasLongRest }) => [fault, hasLongRest]),
    plan(hour).map(({ hasLongRest }) => [undefined, hasLongRest]),
  );
});
