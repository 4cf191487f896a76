// A load that the generator cannot bring, and a feature that had nothing to act on: both are told.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readExperiment } from '../format.js';
import { runExperiment } from '../gather.js';
import { cleanupFor, moduleWith } from './support.js';

/** Keeps this process, which is the generator, busy all the time: its loop never waits for anything. */
function keepBusy(t) {
  let next;
  const work = () => {
    for (const end = performance.now() + 30; performance.now() < end; );
    next = setImmediate(work);
  };
  work();
  t.after(() => clearImmediate(next));
}

async function refusalWith(t, isIdle) {
  keepBusy(t);
  const module = moduleWith({
    control: { isOn: () => false },
    treatment: { isOn: () => true, isIdle },
  });
  module.load = { kind: 'http', paths: ['/one'], connections: 1, seconds: 0.5 };
  module.metrics[0].of = ({ values }) => values.answers_per_s;
  const options = { size: 'quick', seed: 1, cleanup: cleanupFor(t) };
  const running = runExperiment(readExperiment(module, 'test'), options);
  return running.then(
    () => assert.fail('it was not refused'),
    (error) => error,
  );
}

describe('an experiment whose generator was the limit', () => {
  test('tells in the same refusal that the feature had nothing to act on', async (t) => {
    const { kind, why, advice } = await refusalWith(t, () => 'there was nothing to merge');
    assert.equal(kind, 'saturated');
    assert.match(
      why,
      /^\w.*: the load generator was the limit: .*\. Besides: there was nothing to merge$/,
    );
    assert.match(
      advice,
      /Ask for less .*\. Choose a load that gives the feature something to act on$/,
    );
  });

  test('tells nothing of a feature that had', async (t) => {
    const { kind, why } = await refusalWith(t, () => null);
    assert.equal(kind, 'saturated');
    assert.doesNotMatch(why, /Besides/);
  });
});
