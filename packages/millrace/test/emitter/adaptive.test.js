// The table of behaviours on a BatchEmitter that batches: the same logs, except where the table says why not.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { behaviours, observe } from './behaviours/index.js';
import { turn } from './helper.js';

/** The defaults, but that no event gets old enough to count as one of a higher class, however slow the machine is. */
const options = { maxDeferral: 3_600_000 };

for (const behaviour of behaviours) {
  const { name, adaptive } = behaviour;
  test(`adaptive: ${name}${adaptive ? `; differs: ${adaptive.why}` : ''}`, async () => {
    const plain = await observe(behaviour, EventEmitter, {}, turn);
    const batched = await observe(behaviour, BatchEmitter, options, turn);
    assert.deepEqual(batched, adaptive ? adaptive.log : plain);
    if (adaptive)
      assert.notDeepEqual(batched, plain, 'this is no difference: take it off the table');
  });
}

test('a BatchEmitter is a class: it cannot be called without new, as EventEmitter can', () => {
  assert.throws(() => BatchEmitter.call(Object.create(BatchEmitter.prototype)), TypeError);
  assert.doesNotThrow(() => EventEmitter.call(Object.create(EventEmitter.prototype)));
});
