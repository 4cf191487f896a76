// What a call gives, and what it rejects with; alone, and in a batch with others.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { move } from '@millrace/pool';
import { hold, open, openStill, outcomes, repeat, warm } from './support.js';

const results = {
  undefined: undefined,
  null: null,
  'a promise': 'later',
  'a promise of a promise': 'much later',
  'a thenable': 'from a thenable',
  'a bigint': 2n ** 200n,
  'a map': new Map([[1, new Set([Number.NaN, -0])]]),
  'a date': new Date(5),
  'a moved buffer': new Uint8Array([1, 2, 3]).buffer,
  'a moved view': new Float64Array([0.5]),
  'a promise of a moved buffer': new Uint8Array([4]).buffer,
};

test('results of functions', async (t) => {
  const pool = open(t);
  for (const [what, expected] of Object.entries(results))
    assert.deepEqual(await pool.run(what, { name: 'give' }), expected, what);
  const error = await pool.run('an error', { name: 'give' });
  assert.ok(error instanceof RangeError);
  assert.equal(error.message, 'not thrown');
});

for (const name of ['fail', 'failLater']) {
  test(`errors of functions: ${name}`, async (t) => {
    const pool = open(t);
    const thrown = (what) => pool.run(what, { name }).then(assert.fail, (error) => error);

    const plain = await thrown('an error');
    assert.ok(plain instanceof TypeError);
    assert.equal(plain.message, 'plain');
    assert.match(plain.stack, /tasks\.js/);

    const quota = await thrown('an error with properties');
    const { message, code, limit, cause } = quota;
    assert.ok(quota instanceof Error);
    assert.deepEqual(
      { name: quota.name, message, code, limit, cause: cause.message },
      { name: 'QuotaError', message: 'too much', code: 'E_QUOTA', limit: 7, cause: 'deep' },
    );

    const odd = await thrown('an error with what cannot be cloned');
    assert.deepEqual([odd.message, odd.code], ['odd', 'E_ODD']);

    const gone = await thrown('a DOMException');
    assert.deepEqual([gone.name, gone.message], ['AbortError', 'gone']);

    assert.equal(await thrown('a text'), 'only a text');
    assert.equal(await thrown('undefined'), undefined);
    assert.equal(await thrown('null'), null);
    assert.deepEqual(await thrown('an object'), { code: 9 });
    assert.equal(pool.stats().failed, 8);
    assert.equal(pool.completed, 8);
  });
}

/** Calls that wait together behind one that is held; the number of batches in which they then go. */
async function together(pool, calls) {
  const held = await hold(pool);
  const { batches } = pool.stats();
  const made = calls();
  held.release();
  const ended = await outcomes(made);
  return { ended, batches: pool.stats().batches - batches };
}

test('in a batch each call has its own end', async (t) => {
  const pool = openStill(t);
  await warm(pool, 'giveOrFail', { gives: 'null' });
  const kinds = [
    ...Object.keys(results).map((gives) => ({ gives })),
    { gives: 'a function' },
    { fails: 'an error with properties' },
    { gives: 'an object with a function' },
    { fails: 'an object' },
    { fails: 'a text' },
    { gives: 'a symbol' },
  ];
  const rounds = 4;
  const given = repeat(rounds * kinds.length, (n) => kinds[n % kinds.length]);
  const { ended, batches } = await together(pool, () =>
    given.map((task) => pool.run(task, { name: 'giveOrFail' })),
  );
  const expected = [
    ...Object.values(results),
    'MILLRACE_E_BAD_RESULT',
    'E_QUOTA',
    'MILLRACE_E_BAD_RESULT',
    9,
    undefined,
    'MILLRACE_E_BAD_RESULT',
  ];
  assert.deepEqual(
    ended,
    repeat(given.length, (n) => expected[n % kinds.length]),
  );
  assert.ok(batches < given.length / 2, `${batches} batches`);
  assert.equal(pool.threads.length, 1);
});

test('an argument that cannot be cloned harms no other of its batch', async (t) => {
  const pool = open(t);
  await warm(pool, 'default');
  const before = pool.completed;
  const { ended } = await together(pool, () =>
    repeat(40, (n) => pool.run(n % 10 === 3 ? () => {} : n)),
  );
  const expected = repeat(40, (n) => (n % 10 === 3 ? 'MILLRACE_E_INVALID_ARGUMENT' : n));
  assert.deepEqual(ended, expected);
  const { running, queued, completed, failed } = pool.stats();
  assert.deepEqual({ running, total: queued.total, failed }, { running: 0, total: 0, failed: 4 });
  assert.equal(completed, before + 40 + 1);
});

/** Some releases of Node.js send a buffer that is gone as an empty one. */
function ofGone() {
  const buffer = new ArrayBuffer(8);
  structuredClone(buffer, { transfer: [buffer] });
  try {
    return structuredClone(buffer, { transfer: [buffer] }).byteLength;
  } catch {
    return 'MILLRACE_E_INVALID_ARGUMENT';
  }
}

test('transferred data leaves this thread; using it twice fails the second call alone', async (t) => {
  const pool = open(t);
  await warm(pool, 'bytesOf', null);
  const buffers = repeat(3, (n) => new ArrayBuffer(10 + n));
  const { ended } = await together(pool, () => {
    const call = (buffer) => pool.run(buffer, { name: 'bytesOf', transferList: [buffer] });
    return [
      ...buffers.map(call),
      pool.run(move(new ArrayBuffer(5)), { name: 'bytesOf' }),
      pool.run(new ArrayBuffer(6), { name: 'bytesOf' }),
      call(buffers[0]),
      pool.run(new ArrayBuffer(7), { name: 'bytesOf' }),
    ];
  });
  assert.deepEqual(ended, [10, 11, 12, 5, 6, ofGone(), 7]);
  assert.deepEqual(
    buffers.map(({ byteLength }) => byteLength),
    [0, 0, 0],
  );
});

test('a port goes along', async (t) => {
  const pool = open(t);
  const { port1, port2 } = new MessageChannel();
  const message = once(port1, 'message');
  await pool.run({ port: port2, value: 42 }, { name: 'reply', transferList: [port2] });
  assert.deepEqual(await message, [42]);
});

test('an argument is what it was when it was sent', async (t) => {
  const pool = open(t);
  const argument = { n: 1 };
  const call = pool.run(argument);
  argument.n = 2;
  assert.deepEqual(await call, { n: 1 });
});

test('calls that are wrong reject, and lose nothing', async (t) => {
  const pool = open(t);
  const wrong = { code: 'MILLRACE_E_INVALID_ARGUMENT' };
  const given = [
    { timeout: -1 },
    { timeout: 'soon' },
    { timeout: 2 ** 31 },
    { retry: 0.5 },
    { retry: -1 },
    { priority: 'urgent' },
    { priority: 'toString' },
    { name: 5 },
    { filename: 5 },
    { transferList: 'all' },
    { signal: 'abort' },
    { signal: {} },
  ];
  for (const options of given)
    await assert.rejects(
      pool.run(1, options),
      ({ code }) => ['MILLRACE_E_INVALID_ARGUMENT', 'MILLRACE_E_INVALID_OPTION'].includes(code),
      JSON.stringify(options),
    );
  await assert.rejects(pool.run(1, null), wrong);
  await assert.rejects(pool.run(1, 'name'), wrong);
  assert.equal(await pool.run(1), 1);
  const { completed, running, queued } = pool.stats();
  assert.deepEqual([completed, running, queued.total], [1, 0, 0]);
});
