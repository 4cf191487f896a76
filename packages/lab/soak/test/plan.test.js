import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS, plan } from '../faults/plan.js';

const hour = { seconds: 3600, every: 60, seed: 3, slots: [2, 3] };

test('an hour has a fault each minute, and each kind as often', () => {
  const faults = plan(hour);
  assert.equal(faults.length, 60);
  for (const kind of KINDS) {
    assert.equal(faults.filter((fault) => fault.kind === kind).length, 60 / KINDS.length, kind);
  }
  for (const { afterS, choice, slot } of faults) {
    assert.ok(afterS > 0 && afterS < 20, `${afterS}`);
    assert.ok(choice >= 0 && choice < 1);
    assert.ok([2, 3].includes(slot));
  }
  assert.ok(new Set(faults.map(({ afterS }) => afterS)).size > 50, 'the moments differ');
});

test('every rotation has each kind once', () => {
  const kinds = plan(hour).map(({ kind }) => kind);
  for (let i = 0; i < kinds.length; i += KINDS.length) {
    assert.deepEqual(kinds.slice(i, i + KINDS.length).sort(), KINDS.toSorted());
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
