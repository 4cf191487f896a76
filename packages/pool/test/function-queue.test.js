// The tasks of one function and one priority.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { FunctionQueue, PoolFunction, Task } from '../dist/task.js';

const of = new PoolFunction(0, 'file', 'name');
const plain = (n) => new Task(of, n, 1, n, null, null, null);
const guarded = (n) =>
  new Task(of, n, 1, n, null, null, { transferList: [], signal: null, timeoutMs: 5 });

function queueOf(tasks) {
  const queue = new FunctionQueue(of);
  for (const task of tasks) queue.push(task);
  return queue;
}

test('oldest first, not more than asked for or there are', () => {
  const tasks = [0, 1, 2, 3].map(plain);
  const queue = queueOf(tasks);
  assert.equal(queue.head, tasks[0]);
  assert.deepEqual(queue.take(3, false), tasks.slice(0, 3));
  assert.equal(queue.size, 1);
  assert.deepEqual(queue.take(9, false), tasks.slice(3));
  assert.equal(queue.size, 0);
});

test('tasks that run beside others end before one that has to be alone', () => {
  const tasks = [plain(0), plain(1), guarded(2), plain(3)];
  const queue = queueOf(tasks);
  assert.deepEqual(queue.take(4, true), tasks.slice(0, 2));
  // At its turn it is the first: who asked for it knows.
  assert.equal(queue.take(1, true)[0], tasks[2]);
  assert.deepEqual(queueOf(tasks).take(4, false), tasks);
});

test('against an array: pushes, takes, removals, returns', () => {
  for (const seed of seeds(20)) {
    const random = randomNumbers(seed);
    const queue = new FunctionQueue(of);
    let expected = [];
    let taken = [];
    for (let n = 0; n < 600; n++) {
      const kind = random(7);
      if (kind < 3) {
        const task = plain(n);
        queue.push(task);
        expected.push(task);
      } else if (kind === 3 && expected.length > 0) {
        const [removed] = expected.splice(random(expected.length), 1);
        queue.remove(removed);
      } else if (kind < 6 && expected.length > 0) {
        const count = 1 + random(random(4) === 0 ? 100 : 3);
        taken = queue.take(count, false);
        assert.deepEqual(taken, expected.slice(0, count), `seed ${seed}`);
        expected = expected.slice(count);
      } else if (kind === 6) {
        queue.unshift(taken);
        expected = [...taken, ...expected];
        taken = [];
      }
      assert.equal(queue.size, expected.length, `seed ${seed}`);
      if (expected.length > 0) assert.equal(queue.head, expected[0], `seed ${seed}`);
    }
  }
});
