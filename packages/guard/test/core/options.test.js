// Options of a guard: defaults, and errors that name option, value and range.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Guard } from '@millrace/guard';

test('defaults', () => {
  const { options } = new Guard();
  assert.deepEqual(options.maxWait, { high: 300, normal: 250, low: 150 });
  assert.deepEqual(options.rejectDelay, { min: 25, max: 1000 });
  assert.deepEqual(options.concurrency, { initial: 8, min: 2, max: Number.POSITIVE_INFINITY });
  assert.equal(options.slice, 10);
  assert.equal(options.retryAfter, 'auto');
  assert.equal(options.observe, false);
});

test('a number stands for all classes, or for both bounds; an object for what it names', () => {
  assert.deepEqual(new Guard({ maxWait: 50 }).options.maxWait, { high: 50, normal: 50, low: 50 });
  assert.deepEqual(new Guard({ maxWait: { low: 9 } }).options.maxWait, {
    high: 300,
    normal: 250,
    low: 9,
  });
  assert.deepEqual(new Guard({ rejectDelay: 0 }).options.rejectDelay, { min: 0, max: 0 });
  assert.deepEqual(new Guard({ rejectDelay: { min: 5000 } }).options.rejectDelay, {
    min: 5000,
    max: 5000,
  });
  assert.deepEqual(new Guard({ rejectDelay: { max: 10 } }).options.rejectDelay, {
    min: 10,
    max: 10,
  });
  assert.deepEqual(new Guard({ maxWait: { high: undefined } }).options.maxWait.high, 300);
  assert.deepEqual(new Guard({ concurrency: { max: 3 } }).options.concurrency, {
    initial: 3,
    min: 2,
    max: 3,
  });
});

for (const [name, bad, says] of [
  ['maxWait', 0, /'maxWait' is 0; it must be a number from 1 to 600000/],
  ['maxWait', -1, /from 1 to/],
  ['maxWait', Number.NaN, /is NaN/],
  ['maxWait', { high: 0 }, /'maxWait\.high' is 0/],
  ['maxWait', { higher: 1 }, /unknown option 'maxWait.higher'/],
  ['maxWait', '100', /is "100"/],
  ['slice', 0, /from 1 to 1000/],
  ['slice', Number.NaN, /is NaN/],
  ['rest', 1.1, /from 0 to 1/],
  ['rest', -0.1, /from 0 to 1/],
  ['maxQueue', 0, /an integer from 1/],
  ['maxQueue', 1.5, /an integer/],
  ['maxRoutes', 1, /from 10/],
  ['rejectDelay', -1, /from 0/],
  ['rejectDelay', { min: 50, max: 10 }, /'rejectDelay\.max' is 10; it must be a number from 50/],
  ['retryAfter', 0, /from 1 to 86400/],
  ['retryAfter', 'soon', /"soon"/],
  ['concurrency', { min: 0 }, /'concurrency\.min' is 0/],
  ['concurrency', { min: 5, max: 4 }, /'concurrency\.max' is 4; it must be an integer from 5/],
  ['concurrency', { initial: 9, max: 8 }, /'concurrency\.initial' is 9/],
  ['concurrency', { max: Number.NaN }, /'concurrency\.max' is NaN/],
  ['concurrency', { max: 0 }, /'concurrency\.max' is 0; it must be an integer from 1/],
  ['rejectDelay', { max: Number.NaN }, /NaN/],
  ['classes', new Map(), /an object of patterns/],
  ['observe', 'yes', /true or false/],
  ['message', 5, /a text/],
  ['onShed', {}, /a function/],
  ['classify', 'high', /a function/],
  ['route', 1, /a function/],
  ['classHeader', 'x priority', /the name of a header/],
  ['classHeader', '', /the name of a header/],
  ['classes', [], /an object/],
  ['classes', { '/x': 'urgent' }, /is "urgent"; it must be one of 'high'/],
  ['maxWaitMs', 10, /unknown option 'maxWaitMs'/],
]) {
  test(`${name}: ${typeof bad === 'object' ? JSON.stringify(bad) : String(bad)} is refused`, () => {
    assert.throws(() => new Guard({ [name]: bad }), {
      code: 'MILLRACE_E_INVALID_OPTION',
      message: says,
    });
  });
}

test('options that are no object are refused', () => {
  for (const bad of [null, 5, 'x', []]) {
    assert.throws(() => new Guard(bad), { code: 'MILLRACE_E_INVALID_OPTION' });
  }
});
