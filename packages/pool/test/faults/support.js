/** What the tests of faults share: a pool that ends with its test, counts of runs, and of how calls have ended. */
import assert from 'node:assert/strict';
import { on } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from '@millrace/pool';

export const tasks = new URL('./tasks.js', import.meta.url);

export function open(t, options = {}) {
  const usual = { filename: tasks, minThreads: 1, maxThreads: 2, closeTimeout: 600_000 };
  const pool = new Pool({ ...usual, ...options });
  t.after(() => pool.destroy());
  return pool;
}

/** One number for each task: how often it has begun. */
export const counters = (count) => new Int32Array(new SharedArrayBuffer(4 * count));

/** How calls have ended: 'ok' or the code or message of the error, and how often. */
export async function outcomes(calls) {
  const counts = {};
  for (const { status, reason } of await Promise.allSettled(calls)) {
    const key = status === 'fulfilled' ? 'ok' : (reason?.code ?? String(reason));
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

export const repeat = (count, of) => Array.from({ length: count }, (_, n) => of(n));

export async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** Everything has ended: nothing waits, nothing runs, each call that was taken or refused has been answered once, and no task is lost. */
export async function atRest(pool, calls) {
  const stats = () => pool.stats();
  await until(() => stats().workers.busy === 0);
  const { queued, running, completed } = stats();
  assert.deepEqual(queued, { high: 0, normal: 0, low: 0, ahead: 0, total: 0 });
  assert.equal(running, 0);
  assert.equal(pool.queueSize, 0);
  assert.equal(completed, calls, 'calls that were answered');
}

/** So many tasks say that they run. */
export async function holding(pool, count, begin) {
  const messages = on(pool, 'message');
  const calls = begin();
  let left = count;
  for await (const [message] of messages) if (message === 'holds' && --left === 0) break;
  return calls;
}

/** A folder for task files that go with the test. */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), 'millrace-faults-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return {
    path: (name) => join(path, name),
    write(name, text) {
      writeFileSync(join(path, name), text);
      return join(path, name);
    },
    remove: (name) => rmSync(join(path, name)),
  };
}

/** A pool whose functions of this name have run, so that they go in batches. */
export async function warm(pool, name, task) {
  const count = 40;
  await Promise.all(repeat(count, () => pool.run(task, { name })));
  return count;
}
