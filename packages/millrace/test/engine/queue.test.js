// The queue-map against a naive model: random operations, both orders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomNumbers, seeds } from '../../../base/test/random.js';
import { BatchEvent, KeyedEvent, Queue } from '../../dist/engine/queue.js';
import { NaiveQueue } from './naive-queue.js';

const [HIGH, NORMAL, LOW] = [0, 1, 2];
/** As a `maxDeferral`: no event ages. */
const never = Number.POSITIVE_INFINITY;

/** Makes events with rising numbers, at the time that is set. */
class Maker {
  seq = 0;
  time = 0;

  constructor(queue) {
    this.queue = queue;
  }

  event(type, priority = NORMAL, bytes = 0) {
    const seq = ++this.seq;
    const tick = { time: this.time };
    return new BatchEvent(this.queue.entry(type), seq, priority, bytes, tick, seq, null);
  }

  push(...args) {
    const event = this.event(...args);
    this.queue.push(event);
    return event;
  }
}

const data = (events) => events.map((event) => event.data);

for (const order of ['arrival', 'type']) {
  test(`order ${order}: random pushes, cancels, limits and batches agree with a naive model`, () => {
    for (const seed of seeds(80)) {
      const random = randomNumbers(seed);
      const queue = new Queue(order);
      const model = new NaiveQueue(order === 'type');
      const maker = new Maker(queue);
      const all = [];
      for (let step = 0; step < 120; step++) {
        maker.time += random(3);
        const kind = random(20);
        if (kind < 12) {
          const event = maker.event(
            `type ${random(5)}`,
            [NORMAL, NORMAL, LOW, LOW, HIGH][random(5)],
            random(50),
          );
          queue.push(event);
          model.push(event);
          all.push(event);
        } else if (kind < 15 && all.length > 0) {
          const event = all[random(all.length)];
          assert.equal(queue.remove(event), model.cancel(event), `cancel, seed ${seed}`);
        } else if (kind < 16) {
          queue.setMaxBatch(
            queue.entry(`type ${random(5)}`),
            random(3) === 0 ? 2 ** 30 : 1 + random(4),
          );
        } else {
          const [limit, deferral] = [1 + random(30), random(20)];
          const oldest = [null, null, null];
          const expected = model.take(limit, maker.time, deferral);
          for (const { priority, time } of expected) {
            oldest[priority] = Math.min(oldest[priority] ?? time, time);
          }
          assert.deepEqual(
            data(queue.take(limit, maker.time, deferral)),
            data(expected),
            `take, seed ${seed} step ${step}`,
          );
          assert.deepEqual(
            queue.taken.map((tick) => tick?.time ?? null),
            oldest,
            `taken, seed ${seed} step ${step}`,
          );
        }
        checkState(queue, model, seed);
      }
    }
  });

  test(`order ${order}: everything that was pushed is taken or cancelled, once`, () => {
    for (const seed of seeds(20)) {
      const random = randomNumbers(seed);
      const queue = new Queue(order);
      const maker = new Maker(queue);
      const left = new Set();
      for (let step = 0; step < 2000; step++) {
        const event = maker.push(`type ${random(3)}`, random(3));
        left.add(event.data);
        if (random(3) === 0 && queue.remove(event)) left.delete(event.data);
        if (random(40) > 0) continue;
        for (const taken of queue.take(1 + random(100), 0, never)) {
          assert.ok(left.delete(taken.data), `seed ${seed}`);
          assert.equal(queue.remove(taken), false);
        }
      }
      for (const taken of queue.take(10_000, 0, never)) assert.ok(left.delete(taken.data));
      assert.equal(left.size, 0);
      assert.equal(queue.count, 0);
    }
  });

  test(`order ${order}: a queue emptied by limit or by cancel, put in another order and back, works on`, () => {
    const first = new Queue(order);
    const maker = new Maker(first);
    first.setMaxBatch(first.entry('b'), 1);
    maker.push('b');
    assert.equal(first.take(1, 0, never).length, 1);
    first.remove(maker.push('a'));
    maker.push('c', LOW);
    assert.equal(first.take(1, maker.time, 0).length, 1);
    const second = first.reordered(order === 'type' ? 'arrival' : 'type');
    const third = second.reordered(order);
    maker.queue = third;
    maker.push('a');
    maker.push('b');
    maker.push('c', LOW);
    assert.equal(third.oldest()?.data, 4);
    assert.deepEqual(data(third.take(10, 0, never)), [4, 5, 6]);
    assert.equal(third.count, 0);
  });
}

function checkState(queue, { events }, seed) {
  assert.equal(queue.count, events.length, `count, seed ${seed}`);
  assert.equal(
    queue.bytes,
    events.reduce((sum, event) => sum + event.bytes, 0),
    `bytes, seed ${seed}`,
  );
  for (const priority of [HIGH, NORMAL, LOW]) {
    const depth = events.filter((event) => event.priority === priority).length;
    assert.equal(queue.depth(priority), depth, `depth, seed ${seed}`);
  }
  assert.equal(queue.oldest()?.data, events[0]?.data, `oldest, seed ${seed}`);
  const full = [...queue.entries()].some(
    ({ type, maxBatch }) => events.filter((event) => event.type === type).length >= maxBatch,
  );
  assert.equal(queue.hasFullType, full, `full type, seed ${seed}`);
  for (const entry of queue.entries()) {
    assert.equal(
      entry.count,
      events.filter((event) => event.type === entry.type).length,
      `entry, seed ${seed}`,
    );
  }
}

test('types without events and settings are forgotten; others stay', () => {
  const queue = new Queue('arrival');
  const maker = new Maker(queue);
  queue.entry('pinned').pinned = true;
  const waiting = maker.push('waiting');
  for (let i = 0; i < 50_000; i++) {
    const event = maker.push(`made up ${i}`);
    if (i % 2) queue.remove(event);
    else queue.take(2, 0, never);
    if (queue.count === 0) queue.push(maker.event('waiting'));
  }
  const types = [...queue.entries()].length;
  assert.ok(types < 2100, `${types}`);
  assert.ok(queue.find('pinned'));
  assert.equal(queue.find('waiting').count, 1);
  assert.equal(waiting.type, 'waiting');
});

test('a type is found by identity, whatever it is', () => {
  const queue = new Queue('arrival');
  const types = ['a', Symbol('a'), Symbol('a'), {}, 1, '1', Number.NaN, undefined];
  const entries = types.map((type) => queue.entry(type));
  assert.equal(new Set(entries).size, types.length);
  assert.deepEqual(
    types.map((type) => entries.indexOf(queue.entry(type))),
    types.map((_, i) => i),
  );
});

test('forget drops a type that has no events, and only then', () => {
  const queue = new Queue('type');
  const maker = new Maker(queue);
  const event = maker.push('a');
  queue.forget('a');
  assert.ok(queue.find('a'));
  queue.remove(event);
  queue.forget('a');
  queue.forget('never seen');
  assert.equal(queue.find('a'), undefined);
  assert.notEqual(queue.entry('a'), event.entry);
});

for (const order of ['arrival', 'type']) {
  test(`order ${order}: 200,000 keys are kept for as long as their events are queued`, () => {
    const queue = new Queue(order);
    const entry = queue.entry('x');
    let seq = 0;
    const keyed = (key) => new KeyedEvent(entry, key, NORMAL, 1, { time: 0 }, ++seq, null, key);
    for (let key = 0; key < 200_000; key++) {
      queue.pushKeyed(keyed(key));
      if (queue.count < 1000) continue;
      assert.equal(entry.keys.size, 1000);
      // By a limit, and all at once.
      if (key % 2000 === 1999) queue.take(300, 0, never);
      queue.take(1000, 0, never);
      assert.equal(entry.keys.size, 0);
    }
    const [older, newer] = [keyed('k'), keyed('k')];
    queue.pushKeyed(older);
    queue.replace(older, newer);
    assert.equal(queue.remove(older), false);
    assert.equal(queue.remove(newer), true);
    assert.deepEqual([queue.count, queue.bytes, entry.keys.size], [0, 0, 0]);
  });
}
