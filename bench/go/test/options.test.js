/** Options of make bench NAME=go, and values that it refuses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Refused } from '../../lib/refused.js';
import { chosenArms, optionsFrom } from '../options.js';

const names = ['PingPong', 'Stability'];
const options = (env) => optionsFrom(env, names);
const refused = (env, message) => assert.throws(() => options(env), { message });

describe('the options of the tournament', () => {
  test('are a run of all cases without any', () => {
    assert.deepEqual(options({}), {
      ...{ only: null, arms: null, stability: null, tables: null },
      ...{ showsTables: false, isKept: false },
    });
  });

  test('refuse a case that there is not, with those that there are', () => {
    refused({ CASE: 'pingpong' }, "CASE is 'pingpong'; there are PingPong, Stability");
  });

  test('have several arms, of which a case refuses those that it has not', () => {
    const { arms } = options({ CASE: 'PingPong', ARMS: 'tick, nobody' });
    assert.deepEqual(arms, ['tick', 'nobody']);
    assert.throws(() => chosenArms('PingPong', ['tick', 'safe'], arms), {
      message: "ARMS has 'nobody'; PingPong has tick, safe",
    });
    assert.deepEqual(chosenArms('PingPong', ['tick', 'safe'], ['safe']), ['safe']);
    assert.deepEqual(chosenArms('PingPong', ['tick', 'safe'], null), ['tick', 'safe']);
  });

  test('have no arms of what is kept, nor of the long runs', () => {
    refused({ ARMS: 'tick', SAVE: '1' }, /leave out ARMS/);
    refused({ CASE: 'Stability', ARMS: 'tick' }, /Stability has no ARMS/);
  });

  test('take a time with its unit', () => {
    const seconds = (text) => options({ STABILITY: text }).stability.seconds;
    assert.deepEqual(['90s', '1.5m', '1h', '168h'].map(seconds), [90, 90, 3600, 604_800]);
  });

  for (const text of ['-1h', '0s', '60', '1d', 'h', 'NaNs', '169h', '1e3s', '1h30m']) {
    test(`refuse ${text} of a long run`, () => {
      refused(
        { STABILITY: text },
        new RegExp(`^STABILITY is '${text}'; it must be a time such as`),
      );
    });
  }

  for (const text of ['-1', '0', 'fast', '1e9']) {
    test(`refuse ${text} tasks a second`, () => {
      refused(
        { STABILITY: '1h', RATE: text },
        new RegExp(`^RATE is '${text}'; it must be a number`),
      );
    });
  }

  test('have a rate of a long run alone, and 100,000 by default', () => {
    assert.equal(options({ STABILITY: '1m' }).stability.rate, 100_000);
    assert.equal(options({ STABILITY: '1m', RATE: '2500' }).stability.rate, 2500);
    refused({ RATE: '5' }, /STABILITY=1h/);
    refused({ STABILITY: '1h', CASE: 'PingPong' }, /leave out CASE=PingPong/);
  });

  test('print tables of what is kept, of a file, or of the run that is asked for', () => {
    assert.equal(options({ TABLE: '1' }).tables, 'kept');
    assert.equal(options({ TABLE: 'a.json', QUICK: '1' }).tables, 'a.json');
    for (const run of [{ QUICK: '1' }, { CASE: 'PingPong' }, { SAVE: '1' }]) {
      const { tables, showsTables } = options({ TABLE: '1', ...run });
      assert.deepEqual([tables, showsTables], [null, true]);
    }
  });

  test('are refused by an error that ends the program with a sentence', () => {
    assert.throws(() => options({ CASE: 'x' }), Refused);
  });
});
