/** What the tests of the pool share. */
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from '@millrace/pool';
import { stillClock } from '../../base/test/clocks.js';

export const tasks = new URL('./tasks.js', import.meta.url);

/** Option of a pool whose workers have a clock that stands still: see still-clock.cjs. */
export const stillWorkers = {
  execArgv: ['--require', fileURLToPath(new URL('./still-clock.cjs', import.meta.url))],
};

/** A pool that ends with its test. A close() of it may take as long as a machine needs on which much else runs. */
export function open(t, options = {}) {
  const usual = { filename: tasks, minThreads: 1, maxThreads: 1, closeTimeout: 600_000 };
  const pool = new Pool({ ...usual, ...options });
  t.after(() => pool.destroy());
  return pool;
}

/**
 * A pool that ends with its test, with one worker, and no clock that goes on: all tasks are short ones, and none is late. So
 * nothing but the number of waiting tasks decides how many of them go together.
 */
export function openStill(t, options = {}) {
  stillClock(t);
  return open(t, { ...stillWorkers, ...options });
}

export const repeat = (count, of) => Array.from({ length: count }, (_, n) => of(n));

/** Numbers that all threads share. */
export const shared = (count) => new Int32Array(new SharedArrayBuffer(4 * count));

/** Holds tasks until it is opened. */
export function newGate() {
  const cell = shared(1);
  return {
    cell,
    open() {
      Atomics.store(cell, 0, 1);
      Atomics.notify(cell, 0);
    },
  };
}

/** Resolves when the task that says `what` has begun. Ask before it is called. */
export async function begins(pool, what) {
  for await (const [message] of on(pool, 'message')) if (message === what) return;
}

let holds = 0;

/** A task that runs until it is released; resolves when it has begun. */
export async function hold(pool, { name = 'hold', ...options } = {}) {
  const gate = newGate();
  const say = `holds ${holds++}`;
  const begun = begins(pool, say);
  const ended = pool.run({ gate: gate.cell, say }, { name, ...options });
  ended.catch(() => {});
  await begun;
  return { ended, release: gate.open };
}

/** Lets the pool know that tasks of this function are short: from then on they go in batches, and ahead. Interrupted ones look longer. */
export async function warm(pool, name, task = {}) {
  for (let n = 0; n < 40 || pool.meanMs(name) > 0.2; n++) await pool.run(task, { name });
}

/** How calls have ended, in their order: a result, or the code or message of an error. */
export async function outcomes(calls) {
  const settled = await Promise.allSettled(calls);
  return settled.map(({ status, value, reason }) =>
    status === 'fulfilled' ? value : (reason?.code ?? reason?.message),
  );
}

/** A log that workers write to, in the order in which they do. */
export function newLog(size) {
  const cells = shared(size + 1);
  return { cells, entries: () => [...cells.subarray(1, 1 + cells[0])] };
}

export async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Nothing waits or runs, and no worker has anything to answer. */
export const atRest = (pool) =>
  until(() => {
    const { queued, running, workers } = pool.stats();
    return queued.total === 0 && running === 0 && workers.busy === 0;
  });
