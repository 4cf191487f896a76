/** Whether memory that grows is told from memory that does not. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { randomFrom } from '@millrace/lab/stats';
import { grownCounts, judgeGrowth, warmUpOf } from '../outcome.js';

const HOUR = 3600;
const options = { warmUpS: warmUpOf(HOUR), seed: 7 };

/** A value a minute; `noise` is its standard deviation as a share, `swing` the part of it that goes over to the next. */
function hour({ perHour = 0, noise = 0.003, swing = 0, seed = 1, minutes = 60, more = () => 0 }) {
  const random = randomFrom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let last = 0;
  return Array.from({ length: minutes }, (_, i) => {
    last = swing * last + Math.sqrt(1 - swing * swing) * normal();
    const value = 40e6 * (1 + (perHour * i) / 60 + noise * last + more(i));
    return [i * 60, value];
  });
}

const words = (shape) =>
  Array.from({ length: 8 }, (_, i) => judgeGrowth(hour({ ...shape, seed: i + 1 }), options).word);

const count = (list, word) => list.filter((each) => each === word).length;

describe('memory', () => {
  test('a leak of 5 % an hour is found, and its size', () => {
    const { word, perHour, lo, hi } = judgeGrowth(hour({ perHour: 0.05 }), options);
    assert.equal(word, 'refuted');
    assert.ok(lo < 0.05 && 0.05 < hi, `${lo} to ${hi}`);
    assert.ok(Math.abs(perHour - 0.05) < 0.005, `${perHour}`);
    assert.equal(count(words({ perHour: 0.05 }), 'refuted'), 8);
  });

  test('noise without a leak passes, also where neighbours are alike', () => {
    assert.ok(count(words({ noise: 0.0015 }), 'met') >= 7);
    assert.equal(count(words({ swing: 0.6 }), 'refuted'), 0);
  });

  test('a leak of 5 % an hour is not called met when it hardly shows', () => {
    assert.equal(count(words({ perHour: 0.05, noise: 0.05, swing: 0.5 }), 'met'), 0);
  });

  test('memory loaded during the warm-up is no leak', () => {
    const more = (i) => (i < 15 ? 0.3 * (i / 15) : 0.3);
    const { word, lo, hi } = judgeGrowth(hour({ more }), options);
    assert.deepEqual([word, lo < 0, hi > 0], ['met', true, true]);
  });

  test('single odd values do not make a leak', () => {
    const more = (i) => (i > 50 && i % 4 === 0 ? 0.2 : 0);
    assert.notEqual(judgeGrowth(hour({ more }), options).word, 'refuted');
  });

  test('too short is undecided, however it looks', () => {
    const short = hour({ perHour: 0.5, minutes: 20 });
    const { word, perHour, lo, hi, why } = judgeGrowth(short, { ...options, warmUpS: 300 });
    assert.equal(word, 'undecided');
    assert.deepEqual([perHour, lo, hi], [null, null, null]);
    assert.match(why, /^14 min /);
    assert.equal(judgeGrowth([], options).word, 'undecided');
  });

  test('an interval with both sides of 1 % is undecided', () => {
    assert.equal(judgeGrowth(hour({ perHour: 0.01 }), options).word, 'undecided');
  });
});

describe('counts at rest', () => {
  const rest = (seconds, descriptors, handles = {}) => ({
    seconds,
    counts: { primary: { descriptors, ...handles } },
  });

  test('as many or fewer are all right', () => {
    assert.deepEqual(grownCounts([rest(60, 20), rest(300, 20), rest(600, 19)]), []);
  });

  test('a process is compared with the most of any, the primary with itself', () => {
    const counts = (primary, one, two) => ({
      primary: { descriptors: primary },
      'process 1': { descriptors: one },
      'process 2': { descriptors: two },
    });
    const first = { seconds: 60, counts: counts(20, 29, 28) };
    assert.deepEqual(grownCounts([first, { seconds: 300, counts: counts(20, 29, 29) }]), []);
    assert.equal(grownCounts([first, { seconds: 300, counts: counts(21, 28, 30) }]).length, 2);
  });

  test('one that is more, and one of another kind, are told', () => {
    assert.deepEqual(grownCounts([rest(60, 20), rest(300, 21), rest(600, 20, { Timeout: 1 })]), [
      'primary has 21 × descriptors after 300 s, 20 after 60 s',
      'primary has 1 × Timeout after 600 s, 0 after 60 s',
    ]);
  });
});
