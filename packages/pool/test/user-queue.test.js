// Queues of the user's.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { ArrayTaskQueue, FixedQueue, isTaskQueue, UserQueue } from '../dist/queue.js';

const emptied = (queue) => {
  const all = [];
  while (queue.size > 0) all.push(queue.shift());
  return all;
};

for (const Queue of [ArrayTaskQueue, FixedQueue]) {
  test(`${Queue.name}: first in, first out, against an array`, () => {
    for (const seed of seeds(10)) {
      const random = randomNumbers(seed);
      const queue = new Queue();
      const expected = [];
      for (let n = 0; n < 400; n++) {
        const task = { n };
        const kind = random(6);
        if (kind < 2) {
          queue.push(task);
          expected.push(task);
        } else if (kind === 2) {
          queue.unshift(task);
          expected.unshift(task);
        } else if (kind === 3 && expected.length > 0) {
          const [removed] = expected.splice(random(expected.length), 1);
          queue.remove(removed);
        } else if (kind > 3 && expected.length > 0) {
          assert.equal(queue.shift(), expected.shift(), `seed ${seed}`);
        }
        assert.equal(queue.size, expected.length, `seed ${seed}`);
      }
      assert.deepEqual(emptied(queue), expected, `seed ${seed}`);
    }
  });

  test(`${Queue.name}: nothing in it`, () => {
    const queue = new Queue();
    assert.equal(queue.shift(), null);
    assert.equal(queue.size, 0);
    assert.ok(isTaskQueue(queue));
  });
}

const queueOf = (tasks) => {
  const queue = new FixedQueue();
  for (const task of tasks) queue.push(task);
  return queue;
};

const queueInFront = (tasks) => {
  const queue = new FixedQueue();
  for (const task of tasks) queue.unshift(task);
  return queue;
};

const shiftAll = (queue) => {
  while (queue.shift() !== null);
};

const removeNewestFirst = (queue, tasks) => {
  for (const task of tasks.toReversed()) queue.remove(task);
};

/** Ways to empty a queue, one by one. */
const emptying = {
  shift: [queueOf, shiftAll],
  'remove, the newest first': [queueOf, removeNewestFirst],
  'remove what was put in front, the foremost first': [queueInFront, removeNewestFirst],
  'remove what was put in front, the foremost last': [
    queueInFront,
    (queue, tasks) => removeNewestFirst(queue, tasks.toReversed()),
  ],
};

// So long that a queue which walked along it at each step would take hours.
for (const [name, [fill, empty]] of Object.entries(emptying)) {
  test(`FixedQueue: ${name}: a long queue is emptied`, () => {
    const tasks = Array.from({ length: 2 ** 19 }, (_, n) => ({ n }));
    const queue = fill(tasks);
    assert.equal(queue.size, tasks.length);
    empty(queue, tasks);
    assert.equal(queue.size, 0);
    assert.equal(queue.shift(), null);
  });
}

test('FixedQueue: what is in it is not added again', () => {
  const [a, b] = [{ n: 'a' }, { n: 'b' }];
  const queue = queueOf([a, b, a]);
  queue.unshift(b);
  assert.equal(queue.size, 2);
  assert.deepEqual(emptied(queue), [a, b]);
});

test('removing what is not there: an error of one, nothing to the other', () => {
  const array = new ArrayTaskQueue();
  array.push({});
  assert.throws(() => array.remove({}), { code: 'MILLRACE_E_INVALID_ARGUMENT' });
  assert.equal(array.size, 1);
  const fixed = new FixedQueue();
  fixed.push({});
  fixed.remove({});
  assert.equal(fixed.size, 1);
});

test('accepts a queue', () => {
  const whole = { size: 0, push() {}, shift() {}, remove() {} };
  assert.ok(isTaskQueue(whole));
  for (const missing of Object.keys(whole)) {
    const { [missing]: _, ...rest } = whole;
    assert.equal(isTaskQueue(rest), false, missing);
  }
  for (const value of [null, undefined, 1, 'queue', () => {}, []])
    assert.equal(isTaskQueue(value), false);
});

test('tasks are put back in their order, ahead of others, also without unshift', () => {
  const fixed = new UserQueue(new FixedQueue());
  const [a, b, c] = ['a', 'b', 'c'].map((n) => ({ n }));
  fixed.push(c);
  fixed.putBack([a, b]);
  assert.deepEqual(
    [0, 1, 2].map(() => fixed.take()[0]),
    [a, b, c],
  );

  const tasks = [];
  const plain = {
    get size() {
      return tasks.length;
    },
    push: (task) => tasks.push(task),
    shift: () => tasks.shift() ?? null,
    remove: (task) => tasks.splice(tasks.indexOf(task), 1),
  };
  const pushed = new UserQueue(plain);
  pushed.putBack([a, b]);
  assert.deepEqual(
    [0, 1].map(() => pushed.take()[0]),
    [a, b],
  );
});

test('a queue that has thought better of it gives no task', () => {
  const waiting = new UserQueue({ size: 3, shift: () => null, push() {}, remove() {} });
  assert.deepEqual(waiting.take(), []);
});
