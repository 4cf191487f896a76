/** Pauses of the garbage collector: real collections, counted by kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { monitor } from '@millrace/monitor';
import { turn } from './block.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** Collects, and waits until Node.js has told of it. */
async function collect(...args) {
  gc(...args);
  for (let i = 0; i < 3; i++) await turn();
}

test('collections are counted by kind, from when the monitor was made', async (t) => {
  await collect();
  const watch = monitor();
  t.after(() => watch.stop());
  const before = watch.gc;
  for (let i = 0; i < 3; i++) await collect();
  for (let i = 0; i < 2; i++) await collect({ type: 'minor' });
  const { count, totalMs, maxMs, byKind } = watch.gc;
  assert.equal(byKind.major.count - before.byKind.major.count, 3);
  assert.ok(byKind.minor.count - before.byKind.minor.count >= 2, JSON.stringify(byKind));
  const kinds = Object.values(byKind);
  const sum = (of) => kinds.reduce((total, kind) => total + of(kind), 0);
  assert.equal(
    count,
    sum((kind) => kind.count),
  );
  assert.ok(Math.abs(totalMs - sum((kind) => kind.totalMs)) < 1e-6);
  assert.equal(maxMs, Math.max(...kinds.map((kind) => kind.maxMs)));
  assert.ok(maxMs > 0 && maxMs <= totalMs);
});

test('each monitor counts for itself, and a stopped one no more', async () => {
  const first = monitor();
  gc();
  // Node.js has not told of it yet.
  const second = monitor();
  for (let i = 0; i < 3; i++) await turn();
  assert.equal(first.gc.byKind.major.count, 1);
  assert.equal(second.gc.byKind.major.count, 0);
  const before = second.gc.byKind.major.count;
  await collect();
  first.stop();
  const { count } = first.gc.byKind.major;
  assert.ok(count >= 2);
  await collect();
  assert.equal(first.gc.byKind.major.count, count);
  assert.equal(second.gc.byKind.major.count - before, 2);
  second.stop();
  await collect();
  assert.equal(second.gc.byKind.major.count - before, 2);
});

test('returns a copy', async (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  const before = watch.gc;
  const { count } = before;
  await collect();
  watch.gc;
  assert.equal(before.count, count);
});
