import assert from 'node:assert/strict';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { amdahl, speedUp } from '../compute/amdahl.js';
import { describe } from '../compute/describe.js';
import { ALGORITHMS, fibonacciPair } from '../compute/fibonacci.js';
import { combine, factors, halfIndex, power } from '../compute/rsa.js';
import { inOrder } from '../pool/in-order.js';
import { joinSummaries, NONE, ranges, summarizeRecords, writeRecords } from '../records/batch.js';
import { count, join, NONE as NO_TEXT } from '../text/count.js';
import { joinCrc32 } from '../text/crc32.js';
import { BODIES } from './bodies.js';
import { counted, countsOf } from './support.js';

const F300 = 222232244629420445529739893461909967206666939096499764990979600n;

test('both algorithms give Fibonacci numbers', () => {
  for (const algorithm of ALGORITHMS) {
    const small = Array.from({ length: 13 }, (_, n) => fibonacciPair(n, algorithm)[0]);
    assert.deepEqual(small, [0n, 1n, 1n, 2n, 3n, 5n, 8n, 13n, 21n, 34n, 55n, 89n, 144n]);
    assert.equal(fibonacciPair(300, algorithm)[0], F300);
  }
  for (let n = 0; n < 5000; n += 97) {
    assert.deepEqual(fibonacciPair(n, 'paper'), fibonacciPair(n, 'doubling'));
  }
});

test('both stop on request', () => {
  for (const algorithm of ALGORITHMS) {
    const stop = () => {
      throw new Error('enough');
    };
    assert.throws(() => fibonacciPair(1000, algorithm, stop), /enough/);
  }
});

test('the power by two factors is the power by the whole modulus', () => {
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 97, 100, 1000, 12_345]) {
    const k = halfIndex(n);
    const [base] = fibonacciPair(n, 'doubling');
    const { f, l } = factors(k, 'doubling');
    assert.equal(f * l, fibonacciPair(2 * k, 'doubling')[0], `F(2·${k})`);
    for (const exponent of [1, 2, 3, 65_537]) {
      const parts = { modF: power(base, exponent, f), modL: power(base, exponent, l), f, l, k };
      const expected = power(base, exponent, f * l);
      assert.equal(combine(parts), expected, `n = ${n}, exponent ${exponent}`);
      if (exponent <= 3) assert.equal(expected, base ** BigInt(exponent) % (f * l));
    }
  }
});

test('a number is described by its digits', () => {
  const text = F300.toString();
  assert.deepEqual(describe(F300), {
    digits: 63,
    first: '22223224462942044552',
    last: '39096499764990979600',
    sha256: createHash('sha256').update(text).digest('hex'),
  });
  assert.equal(describe(F300, { full: true }).value, text);
  assert.equal(describe(0n).digits, 1);
});

test("Amdahl's law, with the brackets", () => {
  assert.equal(amdahl(0, 8), 1);
  assert.equal(amdahl(1, 8), 8);
  assert.equal(amdahl(0.75, 4), 1 / 0.4375);
  assert.equal(amdahl(0.75, 8).toFixed(6), '2.909091');
  for (const [parallel, processors] of [
    [-0.1, 2],
    [1.1, 2],
    [NaN, 2],
    [0.5, 0],
    [0.5, NaN],
  ]) {
    assert.throws(() => amdahl(parallel, processors), RangeError);
  }
  const times = { parallelMs: 150, serialMs: 50, ms: 100 };
  const expected = { parallel: 0.75, processors: 4, amdahl: 2.29, measured: 2 };
  assert.deepEqual(speedUp(times, 4), expected);
  assert.equal(speedUp({ parallelMs: 0, serialMs: 0, ms: 0 }, 4).measured, 1);
});

test('CRC-32 of a whole is joined from those of its parts', () => {
  const bytes = randomBytes(100_003);
  for (const cut of [0, 1, 8, 4096, 50_000, bytes.length]) {
    const [a, b] = [bytes.subarray(0, cut), bytes.subarray(cut)];
    assert.equal(joinCrc32(crc32(a), crc32(b), b.length), crc32(bytes), `cut at ${cut}`);
  }
});

for (const [name, body] of Object.entries(BODIES)) {
  test(`counts of a file, joined from pieces that are cut anywhere: ${name}`, () => {
    const expected = counted(body);
    assert.deepEqual(countsOf(shown(count(body))), expected);
    const cuts = Array.from({ length: 9 }, () => randomInt(body.length + 1)).sort((a, b) => a - b);
    let joined = NO_TEXT;
    for (const [at, cut] of [...cuts, body.length].entries()) {
      joined = join(joined, count(body.subarray(cuts[at - 1] ?? 0, cut)));
    }
    assert.deepEqual(countsOf(shown(joined)), expected, `cut at ${cuts}`);
  });
}

const shown = (counts) => ({ ...counts, crc32: counts.crc32.toString(16).padStart(8, '0') });

test('records are the same however they are divided', () => {
  const text = writeRecords(0, 2500);
  const records = text.toString().trimEnd().split('\n').map(JSON.parse);
  assert.deepEqual(
    records.map(({ id }) => id),
    Array.from({ length: 2500 }, (_, id) => id),
  );
  const whole = summarizeRecords(0, 2500);
  assert.deepEqual(whole, {
    records: 2500,
    bytes: text.length,
    cents: records.reduce((sum, { cents }) => sum + cents, 0),
    crc32: crc32(text),
  });
  for (const size of [1, 999, 1000, 2499, 2500, 9999]) {
    let joined = NONE;
    for (const { from, to } of ranges(2500, size)) {
      joined = joinSummaries(joined, summarizeRecords(from, to));
    }
    assert.deepEqual(joined, whole, `by ${size}`);
  }
  assert.deepEqual([...ranges(0, 10)], []);
});

test('results come in order, and a source is asked only when there is room', async () => {
  let asked = 0;
  const begun = [];
  async function* source() {
    for (; asked < 10; asked += 1) yield asked;
  }
  const run = (item) => new Promise((resolve) => begun.push(() => resolve(item)));
  const results = inOrder(source(), run, { width: 3, signal: new AbortController().signal });
  const first = results.next();
  await settled();
  assert.equal(begun.length, 3);
  // Those that are done do not count, but it is the first that is waited for.
  begun[2]();
  begun[1]();
  await settled();
  assert.equal(begun.length, 3);
  begun[0]();
  assert.equal((await first).value, 0);
  await settled();
  assert.equal(begun.length, 3, 'nobody has asked for a second result');
  const rest = [];
  for (let next = results.next(); ; next = results.next()) {
    await settled();
    assert.ok(begun.length - rest.length <= 4);
    for (const done of begun) done();
    const { value, done } = await next;
    if (done) break;
    rest.push(value);
  }
  assert.deepEqual(rest, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('when one fails the others are aborted, and the source ends', async () => {
  let hasEnded = false;
  const aborted = [];
  async function* source() {
    try {
      for (let item = 0; ; item += 1) yield item;
    } finally {
      hasEnded = true;
    }
  }
  const run = (item, signal) =>
    item === 1
      ? Promise.reject(new Error('the second fails'))
      : new Promise((resolve, reject) => {
          if (item === 0) resolve(item);
          signal.addEventListener('abort', () => {
            aborted.push(item);
            reject(signal.reason);
          });
        });
  const results = inOrder(source(), run, { width: 4, signal: new AbortController().signal });
  assert.equal((await results.next()).value, 0);
  await assert.rejects(results.next(), /the second fails/);
  assert.deepEqual(aborted, [0, 2, 3, 4]);
  assert.ok(hasEnded);
});

/** Everything that can go on without anybody's help has. */
async function settled() {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}
