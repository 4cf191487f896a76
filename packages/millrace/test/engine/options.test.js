// The options of a queue: their defaults, and what stands for them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGiven } from '@millrace/base/options';
import {
  complete,
  defaults,
  queueOptions,
  queueSchema,
  retainDefaults,
  retention,
} from '../../dist/engine/options.js';

test('every option of a queue has a default, and defaults are allowed values', () => {
  assert.deepEqual(Object.keys(defaults).sort(), [...queueSchema.names].sort());
  assert.deepEqual(parseGiven('it', defaults, queueSchema), { ...defaults });
});

test('undefined counts as not given; what is not of a queue is not looked at', () => {
  assert.deepEqual(queueOptions({ maxBatch: undefined, policy: 'fixed', other: 1 }), {
    policy: 'fixed',
  });
});

test('complete fills in what was not given', () => {
  assert.deepEqual(complete({ maxBatch: 3 }), { ...defaults, maxBatch: 3 });
  assert.equal(complete({ policy: 'fixed' }).maxDelay, 50);
});

test('retain: true is the defaults, false is null, an object changes what it names', () => {
  assert.deepEqual(retention(true), { ...retainDefaults });
  assert.equal(retention(false), null);
  assert.deepEqual(retention({ max: 5 }, { ...retainDefaults, maxAge: 7 }), {
    ...retainDefaults,
    maxAge: 7,
    max: 5,
  });
});
