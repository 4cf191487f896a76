/** Memory for other nodes is bounded, whatever they say of themselves. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { performance } from '@millrace/base/timers';
import { range } from '../../millrace/test/ws/hall.js';
import { costOf, Known, Lists, mostNodes } from '../dist/members.js';

const entry = (key, bytes = 100) => ({ key, room: 'x', presence: { id: `${key}` }, bytes });
const one = costOf(entry(0));

describe('nodes that are known', () => {
  test('are as many as the bound, and those that were known before', () => {
    const known = new Known(1000);
    for (const n of range(mostNodes)) assert.notEqual(known.heard(`${n}`), null);
    assert.equal(known.heard('one more'), null);
    assert.notEqual(known.heard('0'), null);
    known.remove('0', false);
    assert.notEqual(known.heard('one more'), null);
  });

  test('are forgotten beyond the bound when they are gone', (t) => {
    const known = new Known(1000);
    const { now } = performance;
    for (const n of range(mostNodes + 5)) {
      known.heard(`${n}`);
      known.remove(`${n}`, true);
    }
    t.mock.method(performance, 'now', () => now() + 2 * 86_400_000);
    const forgotten = known.forgotten();
    assert.equal(forgotten.length, mostNodes);
    assert.equal(forgotten[0], '5');
  });
});

describe('lists on their way', () => {
  test('share one bound, and what does not fit is dropped', () => {
    const lists = new Lists(3 * one);
    lists.begin('a', 1);
    lists.begin('b', 1);
    assert.equal(lists.add('a', [entry(1), entry(2)]), true);
    assert.equal(lists.add('b', [entry(1)]), true);
    assert.equal(lists.add('b', [entry(2)]), false);
    assert.equal(lists.expects('b', 1, 1), false);
    assert.equal(lists.take('a', 2), null);
    assert.equal(lists.add('a', [entry(3), entry(4)]), false);
    lists.begin('c', 1);
    assert.equal(lists.add('c', [entry(1), entry(2), entry(3)]), true);
  });

  test('free what they had when they are whole, begin anew or are dropped', () => {
    const lists = new Lists(2 * one);
    for (const version of range(20)) {
      lists.begin('a', version);
      assert.equal(lists.expects('a', version, 0), true);
      assert.equal(lists.add('a', [entry(1)]), true);
      assert.equal(lists.expects('a', version, 1), true);
      if (version % 3 === 0) continue;
      if (version % 3 === 1) lists.drop('a');
      else assert.deepEqual(lists.take('a', 1), [entry(1)]);
    }
  });
});
