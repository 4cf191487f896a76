// The table of behaviours on node:events and on a BatchEmitter that does not batch: the logs are the same.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { BatchEmitter } from 'millrace';
import { behaviours, observe } from './behaviours/index.js';
import { turn } from './helper.js';

for (const behaviour of behaviours) {
  test(`direct: ${behaviour.name}`, async () => {
    const expected = await observe(behaviour, EventEmitter, {}, turn);
    assert.notEqual(expected.length, 0);
    assert.deepEqual(await observe(behaviour, BatchEmitter, { policy: 'direct' }, turn), expected);
  });
}
