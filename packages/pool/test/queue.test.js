// Whose turn it is: priorities, aging, and shares between functions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../base/test/random.js';
import { FairQueue } from '../dist/queue.js';
import { PoolFunction, Task } from '../dist/task.js';

const [high, normal, low] = [0, 1, 2];
const agingMs = 1000;

function functionOf(name, meanMs = null) {
  const of = new PoolFunction(0, 'file', name);
  of.meanMs = meanMs;
  return of;
}

const taskOf = (of, { priority = normal, created = 0 } = {}) =>
  new Task(of, null, priority, created, null, null, null);

function waitingOf(...tasks) {
  const waiting = new FairQueue(agingMs);
  for (const task of tasks) waiting.push(task);
  return waiting;
}

/** By default at a time at which none has aged. */
const take = (waiting, nowMs = 30, count = 1) => waiting.take(nowMs, () => count, false);

function takeAll(waiting, nowMs = 30) {
  const all = [];
  while (waiting.size > 0) all.push(...take(waiting, nowMs));
  return all;
}

test('the highest priority first, the oldest of it first', () => {
  const of = functionOf('f', 1);
  const tasks = [low, normal, high, low, normal, high].map((priority, n) =>
    taskOf(of, { priority, created: n }),
  );
  const waiting = waitingOf(...tasks);
  assert.deepEqual(waiting.sizes(), [2, 2, 2]);
  assert.equal(waiting.head(10), tasks[2]);
  assert.deepEqual(
    takeAll(waiting, 10),
    [2, 5, 1, 4, 0, 3].map((n) => tasks[n]),
  );
  assert.deepEqual(waiting.sizes(), [0, 0, 0]);
  assert.equal(waiting.head(10), null);
});

test('tasks that are taken together are of one function and one priority', () => {
  const [f, g] = [functionOf('f', 1), functionOf('g', 1)];
  const tasks = [f, g, f, g, f].map((of, n) => taskOf(of, { created: n }));
  const other = taskOf(f, { priority: low });
  const waiting = waitingOf(...tasks, other);
  const asked = [];
  const together = waiting.take(
    0,
    (head, count) => {
      asked.push([head, count]);
      return 99;
    },
    false,
  );
  assert.deepEqual(asked, [[tasks[0], 3]]);
  assert.deepEqual(together, [tasks[0], tasks[2], tasks[4]]);
  assert.deepEqual(take(waiting, 10, 99), [tasks[1], tasks[3]]);
  assert.deepEqual(take(waiting, 10, 99), [other]);
});

test('after each aging time a task counts one priority higher', () => {
  const order = (priority, nowMs) => {
    const of = functionOf('f', 1);
    const old = taskOf(of, { priority, created: 0 });
    const young = taskOf(of, { priority: high, created: nowMs - 1 });
    return take(waitingOf(young, old), nowMs)[0] === old ? 'old' : 'young';
  };
  assert.equal(order(normal, 999), 'young');
  assert.equal(order(normal, 1000), 'old');
  assert.equal(order(low, 1999), 'young');
  assert.equal(order(low, 2000), 'old');
});

test('the higher ones age, too', () => {
  const of = functionOf('f', 1);
  const older = taskOf(of, { priority: high, created: 0 });
  const younger = taskOf(of, { priority: low, created: 1500 });
  assert.deepEqual(takeAll(waitingOf(younger, older), 3500), [older, younger]);
});

test('the task that is old is the one that goes, whatever its function has had', () => {
  const [greedy, modest] = [functionOf('greedy', 100), functionOf('modest', 1)];
  const waiting = new FairQueue(agingMs);
  // It has had more than its share.
  for (let n = 0; n < 10; n++) waiting.push(taskOf(greedy, { priority: low }));
  take(waiting, 30, 10);
  const old = taskOf(greedy, { priority: low, created: 40 });
  waiting.push(taskOf(modest, { priority: low, created: 35 }));
  take(waiting, 38);
  waiting.push(old);
  waiting.push(taskOf(modest, { priority: low, created: 2400 }));
  waiting.push(taskOf(modest, { priority: high, created: 2400 }));
  assert.equal(take(waiting, 2500)[0], old);
});

test('no task waits for ever behind those of higher priority', () => {
  const of = functionOf('f', 1);
  const last = taskOf(of, { priority: low, created: 0 });
  const waiting = waitingOf(last);
  let nowMs = 0;
  for (; nowMs < 60_000; nowMs += 10) {
    waiting.push(taskOf(of, { priority: high, created: nowMs }));
    waiting.push(taskOf(of, { priority: normal, created: nowMs }));
    if (take(waiting, nowMs)[0] === last) break;
  }
  // The high ones that came before it counted more, or the same and were older.
  assert.ok(nowMs >= 2000 && nowMs < 60_000, `${nowMs}`);
});

test('short tasks do not stand behind all the long ones that came before them', () => {
  const [long, short] = [functionOf('long', 50), functionOf('short', 0.1)];
  const waiting = new FairQueue(agingMs);
  for (let n = 0; n < 100; n++) waiting.push(taskOf(long, { created: n / 100 }));
  for (let n = 0; n < 10; n++) waiting.push(taskOf(short, { created: 2 }));
  const order = takeAll(waiting, 3).map(({ fn }) => fn.name);
  assert.equal(order.filter((name) => name === 'short').length, 10);
  assert.ok(order.lastIndexOf('short') < 12, order.slice(0, 20).join(' '));
});

test('functions share the time, not the number of tasks', () => {
  const [long, short] = [functionOf('long', 4), functionOf('short', 1)];
  const waiting = new FairQueue(agingMs);
  for (let n = 0; n < 200; n++) for (const of of [long, short]) waiting.push(taskOf(of));
  let longs = 0;
  for (let n = 0; n < 100; n++) if (take(waiting)[0].fn === long) longs++;
  assert.ok(Math.abs(longs - 20) <= 2, `${longs} long ones`);
});

test('a function that was away has nothing saved up, and nothing to pay', () => {
  const [here, away] = [functionOf('here', 1), functionOf('away', 1)];
  const waiting = new FairQueue(agingMs);
  const pushed = (of, count) => {
    for (let n = 0; n < count; n++) waiting.push(taskOf(of));
  };
  const shareOf = (of, count) => {
    let taken = 0;
    for (let n = 0; n < count; n++) if (take(waiting)[0].fn === of) taken++;
    return taken;
  };
  pushed(here, 300);
  assert.equal(shareOf(here, 100), 100);
  pushed(away, 50);
  assert.ok(Math.abs(shareOf(away, 40) - 20) <= 2);
  // Back after it was gone for a while.
  while (waiting.sizes()[normal] > 150) take(waiting);
  pushed(away, 200);
  assert.ok(Math.abs(shareOf(away, 40) - 20) <= 2);
});

test('those that are put back go ahead, in their order', () => {
  const [f, g] = [functionOf('f', 1), functionOf('g', 1)];
  const fs = Array.from({ length: 6 }, (_, n) => taskOf(f, { created: n }));
  const gs = Array.from({ length: 2 }, (_, n) => taskOf(g, { created: 10 + n }));
  const waiting = waitingOf(...fs);
  const taken = take(waiting, 10, 4);
  for (const each of gs) waiting.push(each);
  const others = [];
  while (waiting.head(20).fn === g || others.length === 0) others.push(...take(waiting, 20));
  waiting.putBack([taken[1], ...others.filter(({ fn }) => fn === g), taken[2], taken[3]]);
  const rest = takeAll(waiting, 20);
  const left = rest.filter(({ fn }) => fn === f);
  const gone = others.filter(({ fn }) => fn === f);
  assert.deepEqual([...gone, ...left].toSorted(byCreated), [...fs.slice(1)]);
  assert.deepEqual(
    left,
    fs.slice(1).filter((each) => !gone.includes(each)),
  );
  assert.deepEqual(
    rest.filter(({ fn }) => fn === g),
    gs,
  );
});

const byCreated = (a, b) => a.created - b.created;

test('one that is removed is not taken', () => {
  const of = functionOf('f', 1);
  const tasks = [0, 1, 2].map((created) => taskOf(of, { created }));
  const waiting = waitingOf(...tasks);
  waiting.remove(tasks[0]);
  assert.equal(waiting.head(5), tasks[1]);
  waiting.remove(tasks[2]);
  assert.deepEqual(takeAll(waiting, 5), [tasks[1]]);
});

test('whatever happens: each leaves once, in the order of its function, and priorities hold', () => {
  for (const seed of seeds(20)) {
    const random = randomNumbers(seed);
    const waiting = new FairQueue(Number.MAX_SAFE_INTEGER);
    const functions = [0.01, 3, null].map((mean, n) => functionOf(`f${n}`, mean));
    /** Those that wait, by function and priority. */
    const expected = new Map();
    const laneOf = ({ fn, priority }) => {
      const key = `${fn.name} ${priority}`;
      if (!expected.has(key)) expected.set(key, []);
      return expected.get(key);
    };
    const sizes = () => {
      const counts = [0, 0, 0];
      for (const tasks of expected.values()) for (const each of tasks) counts[each.priority]++;
      return counts;
    };
    for (let nowMs = 0; nowMs < 500; nowMs++) {
      const kind = random(8);
      if (kind < 4) {
        const task = taskOf(functions[random(3)], { priority: random(3), created: nowMs });
        waiting.push(task);
        laneOf(task).push(task);
      } else if (kind === 4) {
        const lanes = [...expected.values()].filter((lane) => lane.length > 0);
        if (lanes.length === 0) continue;
        const lane = lanes[random(lanes.length)];
        waiting.remove(lane.splice(random(lane.length), 1)[0]);
      } else if (waiting.size > 0) {
        const head = waiting.head(nowMs);
        const taken = take(waiting, nowMs, 1 + random(5));
        assert.equal(taken[0], head, `seed ${seed}`);
        const best = sizes().findIndex((size) => size > 0);
        assert.equal(head.priority, best, `seed ${seed}`);
        const lane = laneOf(head);
        assert.deepEqual(taken, lane.splice(0, taken.length), `seed ${seed}`);
        if (kind === 7) {
          const again = taken.slice(random(taken.length));
          waiting.putBack(again);
          lane.unshift(...again);
        }
      }
      assert.deepEqual(waiting.sizes(), sizes(), `seed ${seed}`);
      assert.equal(
        waiting.size,
        sizes().reduce((sum, size) => sum + size, 0),
      );
    }
  }
});
