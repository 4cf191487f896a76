/** The account of a long run comes from the lines of its file, and Ctrl-C keeps them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { accountOf, duration, report, rowOf } from '../stability.js';

const about = { cpu: 'a processor', cores: 2, seconds: 600, rate: 1000, seed: 1, intervals: 10 };

/** A file of so many minutes, each with what `of` says of it. */
function file(minutes, { of = () => ({}), end = {} } = {}) {
  const lines = Array.from({ length: minutes }, (_, i) => {
    const { sample, ...more } = of(i);
    return {
      ...{
        seconds: (i + 1) * 60,
        tasks: 60_000,
        heap_bytes: 1e6,
        goroutines: 8,
        cpu_seconds: 6,
        queued_seconds: 3,
      },
      ...more,
      sample: { p50_ns: 1e4, p99_ns: 1e5, p999_ns: 1e6, max_ns: 5e6, samples: 60_000, ...sample },
    };
  });
  const ran = 60_000 * minutes;
  const account = { seconds: minutes * 60, accepted: ran, ran, goroutines_left: 0, stopped: false };
  return [about, ...lines, { ...account, ...end }].map((line) => JSON.stringify(line)).join('\n');
}

const unmet = (text) =>
  accountOf(text)
    .verdicts.filter(({ isMet }) => !isMet)
    .map(({ what }) => what);

describe('the account of a long run', () => {
  test('is of all of its intervals', () => {
    const account = accountOf(file(10));
    assert.equal(account.tasks, 600_000);
    assert.deepEqual([account.cores, account.queued], [0.1, 0.05]);
    assert.deepEqual(unmet(file(10)), []);
    assert.deepEqual(rowOf(account).cells.slice(0, 5), [
      '10 min',
      '600,000',
      '1,000',
      '0.10',
      '0.05',
    ]);
  });

  test('sees a heap that grows, from the first tenth to the last', () => {
    const of = (i) => ({ heap_bytes: 1e6 * (1 + i / 6) });
    assert.deepEqual(unmet(file(10, { of })), ['the heap grew at most 2 times']);
    assert.deepEqual(unmet(file(10, { of: (i) => ({ heap_bytes: i === 4 ? 9e6 : 1e6 }) })), []);
  });

  test('sees one interval in which tasks waited for a second', () => {
    const of = (i) => (i === 3 ? { sample: { p999_ns: 1.5e9, max_ns: 2e9 } } : {});
    const account = accountOf(file(10, { of }));
    assert.deepEqual([account.p999, account.worst], [1.5e9, 2e9]);
    assert.deepEqual(unmet(file(10, { of })), ['p99.9 of every interval below 1 s']);
  });

  test('sees what was lost', () => {
    const text = file(10, { end: { ran: 599_999, goroutines_left: 1 } });
    assert.deepEqual(unmet(text), ['every accepted task has run', 'no goroutine is left']);
  });

  test('of a run that was stopped says so, before all else', () => {
    const account = accountOf(file(3, { end: { stopped: true } }));
    assert.match(report(account), /^stopped before its 10 min were over\nran +3 min\n/);
    assert.doesNotMatch(report(accountOf(file(10))), /stopped/);
  });

  test('leaves out an interval without a task', () => {
    const of = (i) => (i === 0 ? { tasks: 0, sample: { samples: 0, p999_ns: undefined } } : {});
    assert.equal(accountOf(file(3, { of })).p999, 1e6);
    const none = file(1, { of: () => ({ sample: { samples: 0 } }), end: { accepted: 0, ran: 0 } });
    assert.throws(() => accountOf(none), { message: /no task has run/ });
  });

  test('is not there of a run that was killed', () => {
    const killed = file(3).split('\n').slice(0, -1).join('\n');
    assert.throws(() => accountOf(killed), { message: /no account/ });
  });
});

test('a time is told in its own unit', () => {
  assert.deepEqual([45, 600, 3600, 86_400].map(duration), ['45 s', '10 min', '1 h', '24 h']);
});
