/** The interval of a figure is the exact one of its rounds, and says its level. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { figure } from '../figure.js';
import { mean, share, timesBetter } from '../statistics.js';
import { table } from '../table.js';
import { verdict } from '../verdict.js';

const named = { bench: 'b', case: 'c', metric: 'm', unit: '1/s', peer: 'p', backend: 'js' };
const of = (ours, theirs, more) => figure({ ...named, better: 'higher', ...more }, ours, theirs);
/** Six pairs whose ratios are 1.1 to 1.6. */
const ours = [11, 24, 39, 56, 75, 96];
const theirs = [10, 20, 30, 40, 50, 60];

describe('timesBetter', () => {
  test('has the interval of all six ratios with a level of 96.9 %, and none narrower', () => {
    const { lo, hi, level, p } = timesBetter('higher', ours, theirs);
    assert.ok(Math.abs(lo - 1.1) < 1e-12 && Math.abs(hi - 1.6) < 1e-12, `${lo} to ${hi}`);
    assert.equal(level, 1 - 2 / 2 ** 6);
    assert.equal(p, 2 / 2 ** 6);
  });

  test('pairs the rounds: what disturbs both arms of a round leaves the ratio as it is', () => {
    const loads = [1, 3, 0.2, 9, 0.5, 2];
    const slowed = (values) => values.map((value, i) => value / loads[i]);
    const [quiet, busy] = [
      timesBetter('higher', ours, theirs),
      timesBetter('higher', slowed(ours), slowed(theirs)),
    ];
    for (const key of ['ahead', 'lo', 'hi']) {
      assert.ok(Math.abs(busy[key] / quiet[key] - 1) < 1e-12, key);
    }
  });

  test('is above 1 where less is better and ours is less', () => {
    const { ahead, lo } = timesBetter('lower', theirs, ours);
    assert.ok(ahead > lo && lo > 1);
  });
});

describe('a figure', () => {
  test('carries the level that its interval attains, and how many rounds it is of', () => {
    const { level, n, lo, hi } = of(ours, theirs);
    assert.deepEqual([level, n, lo, hi], [0.969, 6, 1.1, 1.6]);
  });

  test('of five rounds has the widest interval that they allow, and its lower level', () => {
    const { level, n } = of(ours.slice(1), theirs.slice(1));
    assert.deepEqual([level, n], [0.938, 5]);
  });

  test('is compared with a bound round by round', () => {
    const { bound, theirs: none, lo } = of(ours, 10);
    assert.deepEqual([bound, none, lo], [10, undefined, 1.1]);
  });

  test('of shares shows the one round that was not whole, and is not met by it', () => {
    const shares = [100, 100, 100, 99, 100, 100].map((count) => share(count, 100));
    const found = of(shares, 1, { summary: mean });
    assert.ok(found.ours < 1, `${found.ours}`);
    assert.equal(verdict(found, 1), 'open');
    assert.equal(of(shares, 1).ours, 1, 'the median hides it');
  });

  test('without a ratio is refused with the value', () => {
    assert.throws(() => of([1, 2, 0, 4, 5, 6], theirs), /c, m: there is no ratio with 0/);
    assert.throws(() => of(ours, [...theirs.slice(1), Number.NaN]), /no ratio with NaN/);
  });
});

describe('a verdict', () => {
  test('comes from the whole interval', () => {
    const found = of(ours, theirs);
    assert.deepEqual(
      [1.1, 1.2, 1.7, undefined].map((target) => verdict(found, target)),
      ['met', 'open', 'not met', ''],
    );
  });

  test('is open where there is no interval of 95 %, however far ahead the figure is', () => {
    assert.equal(verdict(of(ours.slice(1), theirs.slice(1)), 0.1), 'open');
    assert.equal(verdict(of(ours.slice(1), theirs.slice(1)), 9), 'open');
  });
});

test('the printed table has the level and the rounds beside the interval', () => {
  const [head, , row] = table([{ figure: of(ours, theirs), target: 1 }]).split('\n');
  assert.match(head, /ahead +interval +level +rounds +target/);
  assert.match(row, /1\.10x to 1\.60x +96\.9 % +6 +>= 1\.00x +met/);
});
