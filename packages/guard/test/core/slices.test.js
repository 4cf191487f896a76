// Slices: where in the loop requests run, what comes between two of them, and what an error in one does to the rest.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stillClock } from '../../../base/test/clocks.js';
import { Slices } from '../../dist/slices.js';

/** A queue of functions in place of requests. */
function sliced(jobs, { sliceMs = 10, rest = 0.08 } = {}) {
  const log = [];
  let over;
  const done = new Promise((resolve) => {
    over = resolve;
  });
  const slices = new Slices(
    {
      get size() {
        return jobs.length;
      },
      get hasMore() {
        return jobs.length > 0;
      },
      runNext() {
        jobs.shift()?.(log);
      },
      sliceOver() {
        log.push('over');
        if (jobs.length === 0) setImmediate(over);
      },
      ended() {},
    },
    sliceMs,
    rest,
  );
  slices.start();
  return { log, done, slices };
}

function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('ticks and promise jobs of one come before the next', async (t) => {
  stillClock(t);
  const job = (name) => (log) => {
    log.push(name);
    process.nextTick(() => log.push(`${name} tick`));
    queueMicrotask(() => log.push(`${name} job`));
  };
  const { log, done } = sliced([job('a'), job('b')], { sliceMs: 1000 });
  assert.deepEqual(log, [], 'nothing runs at once');
  await done;
  assert.deepEqual(log, ['a', 'a tick', 'a job', 'b', 'b tick', 'b job', 'over']);
});

test('a slice ends after its time, and what is left has the next', async () => {
  const job = (name) => (log) => {
    block(30);
    log.push(name);
  };
  const { log, done } = sliced([job('a'), job('b'), job('c')]);
  await done;
  assert.deepEqual(log, ['a', 'over', 'b', 'over', 'c', 'over']);
});

test('the loop makes turns between slices, as long as something comes in each', async (t) => {
  const clock = stillClock(t);
  const { log, done, slices } = sliced([
    (log) => {
      clock.pass(30);
      log.push('a');
      let turns = 0;
      const turn = () => {
        log.push('turn');
        slices.notice();
        if (++turns < 4) setImmediate(turn);
      };
      setImmediate(turn);
    },
    (log) => log.push('b'),
  ]);
  await done;
  assert.ok(
    log.slice(0, log.indexOf('b')).filter((entry) => entry === 'turn').length >= 3,
    `${log}`,
  );
});

test('without rest the next slice comes with the next turn', async () => {
  let turns = 0;
  const turn = () => {
    turns++;
  };
  const { log, done } = sliced(
    [
      (log) => {
        block(20);
        log.push('a');
        setImmediate(turn);
      },
      (log) => log.push(`b after ${turns}`),
    ],
    { rest: 0 },
  );
  await done;
  assert.equal(log.at(-2).startsWith('b after'), true);
});

test('requests pushed while slices run are run by them', async () => {
  const jobs = [
    (log) => {
      log.push('a');
      jobs.push((log) => log.push('b'));
    },
  ];
  const { log, done } = sliced(jobs, { sliceMs: 1000 });
  await done;
  assert.deepEqual(
    log.filter((entry) => entry !== 'over'),
    ['a', 'b'],
  );
});

test('an error of one is an uncaught exception, and the rest is run', async (t) => {
  const errors = [];
  const listener = (error) => errors.push(error.message);
  process.setUncaughtExceptionCaptureCallback(listener);
  t.after(() => process.setUncaughtExceptionCaptureCallback(null));
  const { log, done } = sliced(
    [
      () => {
        throw new Error('first');
      },
      (log) => log.push('second'),
    ],
    { sliceMs: 1000 },
  );
  await done;
  assert.deepEqual(errors, ['first']);
  assert.ok(log.includes('second'));
});
