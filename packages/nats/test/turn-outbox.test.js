/** A turn outbox with a hold: which turns leave together, what ends a hold, and that nothing is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnOutbox } from '../dist/turn-outbox.js';
import { decodeBatch, newNode } from '../dist/wire.js';

/** Messages that left, as lists of numbers. Each costs so much that holding pays, and the loop is busy. */
function linkOf(messages) {
  return {
    node: newNode(),
    maxPayload: 1024 * 1024,
    publish(_subject, bytes) {
      const end = performance.now() + 2;
      while (performance.now() < end);
      messages.push(decodeBatch(bytes).records.map(({ data }) => data[0] * 256 + data[1]));
      return true;
    },
  };
}

const record = (number) => ({ flags: 0, data: Buffer.from([number >> 8, number & 255]) });

/** An outbox whose records are numbered, in the middle of a hold. */
async function held() {
  const messages = [];
  const hold = { maxDelay: 60_000, minSaving: 0 };
  const outbox = new TurnOutbox(linkOf(messages), { unit: 'batch', hold });
  let added = 0;
  const add = (isUrgent) => outbox.add('subject', record(added++), isUrgent);
  const left = () => messages.flat().length;
  for (let turn = 0; turn < 20_000; turn++) {
    add(false);
    await nextTurn();
    await nextTurn();
    if (left() < added) return { outbox, messages, add, left, added: () => added };
  }
  return assert.fail(`no turn of 20,000 was held: ${JSON.stringify(outbox.policy)}`);
}

const numbers = (count) => Array.from({ length: count }, (_, i) => i);

test('a held turn leaves with the next ones, and an urgent record ends the hold', async () => {
  const { outbox, messages, add, left, added } = await held();
  assert.equal(outbox.policy.why, null);
  add(false);
  await nextTurn();
  await nextTurn();
  assert.ok(left() < added());
  add(true);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(messages.flat(), numbers(added()));
  assert.ok(messages.at(-1).length >= 3);
  outbox.close();
});

test('close() sends what is held', async () => {
  const { outbox, messages, added } = await held();
  outbox.close();
  assert.deepEqual(messages.flat(), numbers(added()));
});

test('a record that is held can be taken back', async () => {
  const { outbox, messages, add, added } = await held();
  const cancelled = record(9999);
  outbox.add('subject', cancelled);
  add(false);
  assert.equal(outbox.takeBack('subject', cancelled), true);
  outbox.close();
  assert.deepEqual(messages.flat(), numbers(added()));
});

test('1,024 records end a hold', async () => {
  const { outbox, messages, add, added } = await held();
  for (let i = 0; i < 1024; i++) add(false);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(messages.flat(), numbers(added()));
  outbox.close();
});

test('as many bytes as a message can have end a hold', async () => {
  const { outbox, left, added } = await held();
  for (let i = 0; i < 4; i++) {
    outbox.add('subject', { flags: 0, data: Buffer.alloc(256 * 1024) });
  }
  await nextTurn();
  await nextTurn();
  assert.equal(left(), added() + 4);
  outbox.close();
});

test('without a hold a turn leaves at its end, and has no policy', async () => {
  const messages = [];
  const outbox = new TurnOutbox(linkOf(messages), {
    unit: 'batch',
    hold: { maxDelay: 0, minSaving: 0 },
  });
  outbox.add('subject', record(0));
  outbox.add('subject', record(1));
  assert.deepEqual(messages, []);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(messages, [[0, 1]]);
  assert.equal(outbox.policy, null);
});
