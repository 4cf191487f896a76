/** Bad input is refused with the allowed range, and changes nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Monitor, monitor } from '@millrace/monitor';
import { refusal } from './block.js';

const zeroAndWorse = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, 5n, [5]];

const refused = [
  ...zeroAndWorse.map((limit) => [{ limit }, "'limit'", 'a number above 0, up to 3600000']),
  ...zeroAndWorse.map((lower) => [{ lower }, "'lower'", 'a number above 0, up to 3600000']),
  ...zeroAndWorse.map((calm) => [{ calm }, "'calm'", 'an integer from 1 to 1000000']),
  ...zeroAndWorse.map((ms) => [{ sampleInterval: ms }, "'sampleInterval'", 'above 0, up to 60000']),
  ...zeroAndWorse.map((window) => [{ window }, "'window'", 'a number from 100 to 3600000']),
  ...[-0.1, 1.1, Number.NaN, '0'].map((share) => [
    { idleThreshold: share },
    "'idleThreshold'",
    'a number from 0 to 1',
  ]),
  [{ limit: 10, lower: 11 }, "'lower'", '11', 'above 0, up to 10'],
  [{ lower: 43 }, "'lower'", '43', 'above 0, up to 42'],
  [{ calm: 1.5 }, '1.5', 'an integer'],
  [{ window: 99.9 }, '99.9'],
  [{ limit: 3_600_001 }, '3600001'],
  [{ tasks: 7 }, "'tasks'", '7', 'stats()'],
  [{ tasks: null }, "'tasks'", 'null', 'stats()'],
  [{ tasks: { pool: 7 } }, "'tasks.pool'", '7', 'stats()'],
  [{ tasks: { pool: {} } }, "'tasks.pool'", 'stats()'],
  [{ limits: 5 }, "'limits'", "is 'limit' meant?", 'known are limit, lower'],
  [{ sampleinterval: 5 }, "is 'sampleInterval' meant?"],
  [{ resolution: 5 }, "'resolution'", 'known are'],
  [[], 'must be an object', 'an array'],
  [null, 'must be an object', 'null'],
  [42, 'must be an object', '42'],
];

for (const [options, ...words] of refused) {
  const shown =
    typeof options === 'object' && options !== null
      ? Object.entries(options).map(([name, value]) => `${name} ${String(value)} ${typeof value}`)
      : String(options);
  test(`refused: ${shown}`, () => {
    assert.throws(() => monitor(options), refusal(...words));
    assert.throws(() => new Monitor(options), refusal(...words));
  });
}

test('the smallest and the largest are taken, and undefined is the default', () => {
  const least = {
    limit: 1e-3,
    lower: 1e-3,
    calm: 1,
    sampleInterval: 1e-3,
    window: 100,
    idleThreshold: 0,
  };
  const most = {
    limit: 3_600_000,
    lower: 3_600_000,
    calm: 1_000_000,
    sampleInterval: 60_000,
    window: 3_600_000,
    idleThreshold: 1,
    tasks: {},
  };
  for (const options of [least, most]) monitor(options).stop();
  const watch = monitor({ limit: undefined, sampleInterval: undefined, tasks: undefined });
  assert.equal(watch.limit, 42);
  assert.equal(watch.sampleInterval, 5);
  watch.stop();
});

test('values set later are checked as well', (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  for (const value of zeroAndWorse) {
    assert.throws(
      () => {
        watch.limit = value;
      },
      refusal("'limit'", 'above 0'),
    );
    assert.throws(
      () => {
        watch.sampleInterval = value;
      },
      refusal("'sampleInterval'", 'above 0'),
    );
  }
  assert.equal(watch.limit, 42);
  assert.equal(watch.sampleInterval, 5);
  watch.limit = 7;
  assert.equal(watch.limit, 7);
});
