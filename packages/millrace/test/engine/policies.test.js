// The policies as the pure functions that they are: tables of signals and answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete, defaults } from '../../dist/engine/options.js';
import { adaptive, fixed, initialState } from '../../dist/engine/policy.js';

const busy = { utilization: 0.9, rate: 1, gain: 5, holds: 0 };
const ask = (policy, signals, options, state = initialState, now = 0) =>
  policy({ ...busy, ...signals }, { ...defaults, ...options }, state, now);

test('fixed holds for maxDelay, whatever the load', () => {
  for (const utilization of [0, 0.5, 1]) {
    for (const maxDelay of [0, 1, 50, 60_000]) {
      assert.equal(ask(fixed, { utilization }, { maxDelay }).hold, maxDelay);
    }
  }
});

test('fixed has a default delay of its own, which a given one replaces', () => {
  assert.equal(complete({ policy: 'fixed' }).maxDelay, 50);
  assert.equal(complete({ policy: 'fixed', maxDelay: 0 }).maxDelay, 0);
  assert.equal(complete({}).maxDelay, 0);
});

for (const [utilization, share] of [
  [0, 0],
  [0.59, 0],
  [0.6, 0],
  [0.675, 0.25],
  [0.75, 0.5],
  [0.9, 1],
  [1, 1],
]) {
  test(`adaptive at utilization ${utilization} holds for ${share} of maxDelay`, () => {
    const { hold } = ask(adaptive, { utilization }, { maxDelay: 20 });
    assert.ok(Math.abs(hold - 20 * share) < 1e-9, `${hold}`);
  });
}

for (const [rate, maxDelay, holds] of [
  [0.05, 10, true],
  [0.049, 10, false],
  [0, 60_000, false],
  [100, 0, false],
]) {
  test(`adaptive ${holds ? 'holds' : 'does not hold'} for ${rate} events a ms with maxDelay ${maxDelay}`, () => {
    assert.equal(ask(adaptive, { rate }, { maxDelay }).hold > 0, holds);
  });
}

test('holding that brings less than half an event a batch is switched off, and back-off doubles to a minute', () => {
  let state = initialState;
  let now = 0;
  const offFor = [];
  for (let i = 0; i < 9; i++) {
    const decision = ask(adaptive, { gain: 0.49, holds: 16 }, { maxDelay: 10 }, state, now);
    assert.equal(decision.hold, 0);
    offFor.push(decision.state.offUntil - now);
    state = decision.state;
    const before = ask(
      adaptive,
      { gain: 0, holds: 0 },
      { maxDelay: 10 },
      state,
      state.offUntil - 1,
    );
    assert.equal(before.hold, 0, 'still off');
    now = state.offUntil;
    assert.ok(
      ask(adaptive, { gain: 0, holds: 0 }, { maxDelay: 10 }, state, now).hold > 0,
      'tried again',
    );
  }
  assert.deepEqual(offFor, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

test('a gain of half an event keeps holding, and resets the back-off', () => {
  const state = { offUntil: 5, backoff: 32_000 };
  const decision = ask(adaptive, { gain: 0.5, holds: 16 }, { maxDelay: 10 }, state, 5);
  assert.ok(decision.hold > 0);
  assert.equal(decision.state.backoff, 1000);
});

test('fewer than 16 holds say nothing', () => {
  const decision = ask(adaptive, { gain: -3, holds: 15 }, { maxDelay: 10 });
  assert.ok(decision.hold > 0);
  assert.equal(decision.state, initialState);
});

test("hold 'always' does not look at the gain", () => {
  const state = { offUntil: 1000, backoff: 2000 };
  const decision = ask(
    adaptive,
    { gain: -3, holds: 16 },
    { maxDelay: 10, hold: 'always' },
    state,
    0,
  );
  assert.equal(decision.hold, 10);
});

test('a policy changes nothing that it is given', () => {
  for (const policy of [fixed, adaptive]) {
    const given = [busy, { ...defaults, maxDelay: 10 }, initialState].map((value) =>
      Object.freeze({ ...value }),
    );
    assert.doesNotThrow(() => policy(...given, 0));
  }
});
