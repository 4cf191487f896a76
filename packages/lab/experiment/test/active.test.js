import assert from 'node:assert/strict';
import test from 'node:test';
import { misplaced, refusalOfRun } from '../refusal.js';
import { runWith } from './simulation.js';

const [on, off] = [true, false].map((isOn) => ({ name: 'arm', isOn: () => isOn }));
const treatment = runWith({ role: 'treatment' });
const twin = runWith({ role: 'twin' });

test('the feature has to be at work in the treatment, and only there', () => {
  assert.equal(misplaced(treatment, on), null);
  assert.equal(misplaced(runWith(), off), null);
  assert.equal(misplaced(twin, off), null);
  assert.equal(misplaced(treatment, off).why, 'arm: the feature was not at work');
  assert.equal(misplaced(runWith(), on).why, 'arm: the feature was at work, and must not be');
  assert.equal(misplaced(twin, on).why, 'arm (A/A): the feature was at work, and must not be');
  assert.match(misplaced(treatment, off).advice, /Switch it on/);
});

test('a function that cannot see whether the feature is on is the mistake of the experiment', () => {
  const failing = { name: 'arm', isOn: ({ answers }) => answers[9].json.isFast };
  const code = 'MILLRACE_LAB_E_EXPERIMENT';
  assert.throws(() => misplaced(treatment, failing), { code, message: /^isOn of arm .* failed/ });
  const vague = { name: 'arm', isOn: () => undefined };
  assert.throws(() => misplaced(treatment, vague), {
    code,
    message: /gave undefined; it must be true/,
  });
});

test('a run with faults, or with a generator that was the limit, does not count', () => {
  const failed = runWith({ role: 'treatment', case: 'a', faults: ['3 answers are missing', 'no'] });
  // What has failed says nothing about the feature.
  assert.equal(refusalOfRun(failed, off).why, 'case a: arm: 3 answers are missing; arm: no');
  const saturated = runWith({ saturated: 'it was at its limit' });
  assert.equal(refusalOfRun(saturated, off).why, 'arm: it was at its limit');
  assert.equal(refusalOfRun(runWith(), off), null);
  assert.match(
    refusalOfRun(runWith({ case: 'a' }), on).why,
    /^case a: arm: the feature was at work/,
  );
});
