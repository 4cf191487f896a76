// What is known of a function: what its tasks have cost.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { Functions, PoolFunction, Task } from '../dist/task.js';

const near = (value, expected, share) =>
  assert.ok(Math.abs(value - expected) <= share * expected, `${value}, not ${expected}`);

test('nothing is known until a task has ended, then its time is', () => {
  const of = new PoolFunction(0, 'file', 'name');
  assert.equal(of.meanMs, null);
  of.ended(1, 3);
  assert.equal(of.meanMs, 3);
});

test('the mean of several that ended together', () => {
  const of = new PoolFunction(0, 'file', 'name');
  of.ended(10, 5);
  assert.equal(of.meanMs, 0.5);
});

test('it follows when tasks come to need more, or less', () => {
  for (const [before, after] of [
    [0.01, 50],
    [50, 0.01],
  ]) {
    const of = new PoolFunction(0, 'file', 'name');
    of.ended(100, 100 * before);
    of.ended(1, after);
    assert.ok(of.meanMs > Math.min(before, after) && of.meanMs < Math.max(before, after));
    for (let n = 0; n < 60; n++) of.ended(1, after);
    near(of.meanMs, after, 0.01);
  }
});

test('tasks count the same, whether their ends are reported one by one or together', () => {
  const alone = new PoolFunction(0, 'file', 'name');
  const together = new PoolFunction(1, 'file', 'name');
  for (const each of [alone, together]) each.ended(1, 8);
  for (let n = 0; n < 12; n++) alone.ended(1, 2);
  together.ended(12, 24);
  near(alone.meanMs, together.meanMs, 1e-9);
});

test('it stays between the shortest and the longest time', () => {
  for (const seed of seeds(5)) {
    const random = randomNumbers(seed);
    const of = new PoolFunction(0, 'file', 'name');
    for (let n = 0; n < 200; n++) {
      const count = 1 + random(300);
      of.ended(count, count * (1 + random(99)));
      assert.ok(of.meanMs >= 1 && of.meanMs <= 99 + 1e-9, `seed ${seed}: ${of.meanMs}`);
    }
  }
});

test('time to send: that of one task', () => {
  const of = new PoolFunction(0, 'file', 'name');
  for (let n = 0; n < 60; n++) of.sent(10, 5);
  near(of.sendMs, 0.5, 0.01);
});

test('a function is known by its file and its name', () => {
  const functions = new Functions();
  const one = functions.get('/a', 'x');
  assert.equal(functions.get('/a', 'x'), one);
  const others = [functions.get('/a', 'y'), functions.get('/b', 'x'), functions.get('/ax', '')];
  assert.equal(new Set([one, ...others]).size, 4);
  assert.equal(new Set([one, ...others].map(({ id }) => id)).size, 4);
  assert.deepEqual([one.filename, one.name], ['/a', 'x']);
});

test('of very many names those without tasks are forgotten, and no number is given twice', () => {
  const functions = new Functions();
  const busy = functions.get('/file', 'busy');
  busy.queues[1].push(new Task(busy, 1, 1, 0, null, null, null));
  busy.meanMs = 4;
  const ids = new Set();
  const count = 5000;
  for (let n = 0; n < count; n++) ids.add(functions.get('/file', `${n}`).id);
  assert.equal(functions.get('/file', 'busy'), busy);
  assert.notEqual(functions.get('/file', '0').id, busy.id);
  assert.equal(ids.size, count);
  assert.equal(ids.has(functions.get('/file', '0').id), false, 'forgotten');
});

test('registered functions are never forgotten, and do not count', () => {
  const functions = new Functions();
  const old = functions.get('/file', 'old');
  old.meanMs = 4;
  assert.equal(functions.pin('/file', 'old'), old, 'the same, with what is known of it');
  const pinned = Array.from({ length: 1500 }, (_, n) => functions.pin('/pinned', `${n}`));
  const kept = functions.get('/file', 'kept');
  for (let n = 0; n < 900; n++) functions.get('/file', `${n}`);
  assert.equal(functions.get('/file', 'kept'), kept, 'there is room for it');
  for (let n = 0; n < 5000; n++) functions.get('/other', `${n}`);
  assert.notEqual(functions.get('/file', 'kept'), kept, 'forgotten');
  assert.equal(functions.get('/file', 'old'), old);
  for (const [n, each] of pinned.entries()) assert.equal(functions.get('/pinned', `${n}`), each);
});
