// Which tasks of a client go into the next message.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Packer } from '../../dist/tasks/send-queue.js';

const [HIGH, NORMAL, LOW] = [0, 1, 2];

const call = (id, priority, createdMs) => ({
  ...{ id, priority, createdMs, name: 'f', hasOwnId: false, state: 'waiting' },
  ...{ record: { data: Buffer.alloc(1) }, deadlineMs: Number.POSITIVE_INFINITY },
});

const ids = (packer, nowMs, count) =>
  Array.from(
    { length: count },
    () =>
      packer
        .next(nowMs)
        ?.map(({ id }) => id)
        .join() ?? null,
  );

describe('Packer', () => {
  test('sends the highest priority first, and in order', () => {
    const packer = new Packer(10);
    for (const [id, priority] of [
      ['a', LOW],
      ['b', NORMAL],
      ['c', HIGH],
      ['d', HIGH],
    ])
      packer.add(call(id, priority, 0));
    assert.deepEqual(ids(packer, 0, 5), ['c', 'd', 'b', 'a', null]);
  });

  test('gives one message in four to a task that has waited a second for each higher priority', () => {
    const packer = new Packer(10);
    for (const id of ['l1', 'l2']) packer.add(call(id, LOW, 0));
    for (let n = 0; n < 20; n++) packer.add(call(`h${n}`, HIGH, 1 + n));
    assert.deepEqual(ids(packer, 1999, 5), ['h0', 'h1', 'h2', 'h3', 'h4']);
    assert.deepEqual(ids(packer, 2000, 8), ['l1', 'h5', 'h6', 'h7', 'l2', 'h8', 'h9', 'h10']);
    packer.add(call('n1', NORMAL, 5));
    assert.deepEqual(ids(packer, 2000, 4), ['n1', 'h11', 'h12', 'h13']);
  });

  test('lets an aged task go only before those that came later', () => {
    const packer = new Packer(10);
    for (let n = 0; n < 6; n++) packer.add(call(`h${n}`, HIGH, n));
    packer.add(call('l', LOW, 10));
    packer.add(call('h6', HIGH, 11));
    assert.deepEqual(ids(packer, 9000, 8), ['h0', 'h1', 'h2', 'h3', 'h4', 'h5', 'l', 'h6']);
  });

  test('lets the priority above the lowest waiting one count as the first when nothing higher waits', () => {
    const packer = new Packer(10);
    packer.add(call('l', LOW, 0));
    for (let n = 0; n < 5; n++) packer.add(call(`n${n}`, NORMAL, 1));
    assert.deepEqual(ids(packer, 999, 1), ['n0']);
    packer.add(call('l2', LOW, 0));
    assert.deepEqual(ids(packer, 1000, 5), ['l', 'n1', 'n2', 'n3', 'l2']);
  });
});
