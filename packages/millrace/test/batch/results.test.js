// Results and errors: each call gets its own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batch, MillraceError } from 'millrace';
import { child } from '../emitter/helper.js';

const badResult = (error) =>
  error instanceof MillraceError && error.code === 'MILLRACE_E_BAD_RESULT';

test('results belong to calls by their place', async () => {
  const one = batch(async (items) => items.map((n) => n * n));
  assert.deepEqual(await Promise.all([1, 2, 3].map((n) => one(n))), [1, 4, 9]);
});

test('the bulk function may return without a promise, or any thenable', async () => {
  const plain = batch((items) => items);
  assert.equal(await plain(1), 1);
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested
  const thenable = batch((items) => ({ then: (resolve) => resolve(items) }));
  assert.equal(await thenable(2), 2);
});

test('an Error among the results rejects that call alone', async () => {
  const error = new TypeError('no such row');
  const one = batch(async (items) => items.map((n) => (n === 2 ? error : n)));
  const settled = await Promise.allSettled([1, 2, 3].map((n) => one(n)));
  assert.deepEqual(
    settled.map(({ value, reason }) => value ?? reason),
    [1, error, 3],
  );
  assert.equal(one.stats().errors, 1);
});

test('undefined, null and false are results', async () => {
  const one = batch(async () => [undefined, null, false]);
  assert.deepEqual(await Promise.all([one(), one(), one()]), [undefined, null, false]);
});

for (const [name, bulk] of [
  [
    'throws',
    () => {
      throw new Error('whole batch');
    },
  ],
  ['rejects', () => Promise.reject(new Error('whole batch'))],
]) {
  test(`a bulk function that ${name} fails every call of its batch with the same error`, async () => {
    const one = batch(bulk);
    const [first, second] = await Promise.allSettled([one(1), one(2)]);
    assert.equal(first.reason.message, 'whole batch');
    assert.equal(first.reason, second.reason);
    assert.equal(one.stats().errors, 2);
    assert.equal(one.stats().inFlight, 0);
  });
}

for (const [what, results, message] of [
  ['too few results', [1], /1 result for 2 items/],
  ['too many results', [1, 2, 3], /3 results for 2 items/],
  ['no results', undefined, /undefined for 2 items/],
  ['null', null, /null for 2 items/],
  ['an object', { 0: 1, 1: 2, length: 2 }, /an object/],
  ['a string', 'ab', /"ab"/],
  ['a Set', new Set([1, 2]), /Set/],
]) {
  test(`${what} instead of one for each item fails the batch with MILLRACE_E_BAD_RESULT`, async () => {
    const one = batch(async () => results);
    const settled = await Promise.allSettled([one(1), one(2)]);
    for (const { reason } of settled) {
      assert.ok(badResult(reason), String(reason));
      assert.match(reason.message, message);
    }
  });
}

test('the function works on after a failure', async () => {
  let fail = true;
  const one = batch(async (items) => {
    if (fail) throw new Error('once');
    return items;
  });
  await assert.rejects(one(1), /once/);
  fail = false;
  assert.equal(await one(2), 2);
});

test('a failing batch is nobody’s unhandled rejection but the caller’s', async () => {
  const { code, lines, stderr } = await child(`
    import { batch } from 'millrace';
    process.on('unhandledRejection', (error) => console.log('unhandled', error.message));
    const one = batch(async () => { throw new Error('bad'); });
    one(1).catch((error) => console.log('handled', error.message));
    await one.flush();
    const two = batch(async (items) => items);
    two(1).catch((error) => console.log('handled', error.code));
    await two.close({ discard: true });
    const controller = new AbortController();
    const three = batch(async (items) => items);
    three(1, { signal: controller.signal }).catch((error) => console.log('handled', error.name));
    controller.abort();
    await three.close();
    setTimeout(() => console.log('end'), 5);
  `);
  assert.equal(code, 0, stderr);
  assert.deepEqual(lines, [
    'handled bad',
    'handled MILLRACE_E_CANCELLED',
    'handled AbortError',
    'end',
  ]);
});

test('results that cannot be read reject their calls, and the next batch leaves', async () => {
  const strange = new Proxy([1, 2], {
    get(target, key) {
      if (key === '1') throw new Error('unreadable');
      return Reflect.get(target, key);
    },
  });
  let calls = 0;
  const one = batch((items) => (++calls === 1 ? strange : items));
  const outcomes = await Promise.allSettled([one('a'), one('b')]);
  assert.equal(outcomes[0].value, 1);
  assert.equal(outcomes[1].reason.message, 'unreadable');
  assert.equal(await one('c'), 'c');
});
