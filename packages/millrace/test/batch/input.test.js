// Bad input to batch() and its functions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch, MillraceError } from 'millrace';
import { echo, turn } from './helper.js';

const invalidOption = (pattern) => ({ code: 'MILLRACE_E_INVALID_OPTION', message: pattern });

test('the bulk function is a function', () => {
  for (const bad of [undefined, null, 1, 'f', {}, []]) {
    assert.throws(() => batch(bad), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message: /bulk function/,
    });
  }
});

test('options are an object with known keys; order is not one of them', () => {
  const { bulk } = echo();
  for (const bad of [null, 1, 'text', [], () => {}]) {
    assert.throws(
      () => batch(bulk, bad),
      invalidOption(/^batch\(\): 'options' is .*; it must be an object; known are policy, /),
    );
  }
  for (const name of ['order', 'maxbatch', 'retain']) {
    assert.throws(
      () => batch(bulk, { [name]: 1 }),
      invalidOption(new RegExp(`unknown option '${name}'`)),
    );
  }
});

for (const [name, bad, range] of [
  [
    'concurrency',
    [0, -1, 65_537, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
    'from 1 to 65536',
  ],
  ['key', [null, 1, 'id', {}], 'a function'],
  ['size', [null, 1, 'length', {}], 'a function'],
  ['policy', ['', 'Direct', null, 1], "'direct', 'fixed', 'adaptive'"],
  ['maxBatch', [0, 1_000_001, 1.5, Number.NaN, '1', null], 'from 1 to 1000000'],
  ['maxDelay', [-1, 60_001, Number.NaN, '1', null], 'from 0 to 60000'],
  ['maxQueue', [0, 100_000_001, 1.5, Number.NaN, '1', null], 'from 1 to 100000000'],
  ['threshold', [-1, 1_000_001, 1.5, Number.NaN, '1', null], 'from 0 to 1000000'],
]) {
  test(`${name}: ${range}`, () => {
    for (const value of bad) {
      assert.throws(
        () => batch(echo().bulk, { [name]: value }),
        (error) =>
          error instanceof MillraceError &&
          error.code === 'MILLRACE_E_INVALID_OPTION' &&
          error.message.includes(`'${name}'`) &&
          error.message.includes(range),
        `${name}: ${String(value)}`,
      );
    }
  });
}

test('the ends of the ranges are allowed', async () => {
  for (const options of [
    { concurrency: 1, maxBatch: 1, maxQueue: 1, maxDelay: 0 },
    { concurrency: 65_536, maxBatch: 1_000_000, maxQueue: 100_000_000, threshold: 1_000_000 },
    { concurrency: undefined, key: undefined, size: undefined, policy: undefined },
  ]) {
    assert.equal(await batch(echo().bulk, options)(1), 1);
  }
});

test('a signal that is none rejects the call; nothing is queued', async () => {
  const { bulk, batches } = echo();
  const one = batch(bulk);
  for (const signal of [null, 1, {}, new AbortController(), new EventTarget()]) {
    await assert.rejects(one(1, { signal }), invalidOption(/'signal'.*an AbortSignal/));
  }
  await turn();
  assert.deepEqual(batches, []);
});

test('no options for a call, in whatever way, are none', async () => {
  const one = batch(echo().bulk);
  assert.deepEqual(
    await Promise.all([one(1), one(2, undefined), one(3, null), one(4, {}), one(5, 0)]),
    [1, 2, 3, 4, 5],
  );
});

test('close rejects bad options, and stays open', async () => {
  const one = batch(echo().bulk);
  await assert.rejects(one.close(null), invalidOption(/^close\(\): 'options' is null/));
  await assert.rejects(one.close({ discrad: true }), invalidOption(/unknown option 'discrad'/));
  for (const discard of [null, 1, 'yes']) {
    await assert.rejects(one.close({ discard }), invalidOption(/'discard'.*true or false/));
  }
  assert.equal(await one(1), 1);
});
