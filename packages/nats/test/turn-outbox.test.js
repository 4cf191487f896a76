/** A turn outbox with a hold: which turns leave together, what ends a hold, and that nothing is lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { turnHold } from '../dist/turn-hold.js';
import { TurnOutbox } from '../dist/turn-outbox.js';
import { decodeBatch, newNode } from '../dist/wire.js';

/** Messages that left, as lists of numbers. Each costs so much that holding pays, and the loop is busy. */
function linkOf(messages) {
  return {
    node: newNode(),
    maxPayload: 1024 * 1024,
    maxPending: 64 * 1024 * 1024,
    publish(_subject, bytes) {
      const end = performance.now() + 2;
      while (performance.now() < end);
      const records = decodeBatch(bytes).records.filter(({ flags }) => flags === 0);
      messages.push(records.map(({ data }) => Buffer.from(data).readUInt32BE(4)));
      return true;
    },
  };
}

/** A record: four bytes for its position, and its number. */
function record(number) {
  const data = Buffer.alloc(8);
  data.writeUInt32BE(number, 4);
  return { flags: 0, data };
}

async function twoTurns() {
  await nextTurn();
  await nextTurn();
}

/** An outbox whose records are numbered, in the middle of a hold. */
async function held(options = {}) {
  const messages = [];
  const hold = turnHold({ maxDelay: 60_000, minSaving: 0 });
  const outbox = new TurnOutbox(linkOf(messages), { unit: 'batch', hold, ...options });
  let added = 0;
  const add = (isUrgent = false, subject = 'subject') =>
    outbox.add(subject, record(added++), isUrgent);
  const left = () => messages.flat().length;
  for (let turn = 0; turn < 20_000; turn++) {
    add();
    await twoTurns();
    if (left() < added) return { hold, outbox, messages, add, left, added: () => added };
  }
  return assert.fail(`no turn of 20,000 was held: ${JSON.stringify(hold.policy)}`);
}

const numbers = (count) => Array.from({ length: count }, (_, i) => i);

test('a held turn leaves with the next ones, and an urgent record ends the hold', async () => {
  const { hold, messages, add, left, added } = await held();
  assert.equal(hold.policy.why, null);
  add();
  await twoTurns();
  assert.ok(left() < added());
  add(true);
  await twoTurns();
  assert.deepEqual(messages.flat(), numbers(added()));
  assert.ok(messages.at(-1).length >= 3);
  hold.close();
});

test('the end of the hold sends what is held', async () => {
  const { hold, messages, added } = await held();
  hold.close();
  assert.deepEqual(messages.flat(), numbers(added()));
});

test('a record that is held can be taken back, and can get other bytes in its place', async () => {
  const { hold, outbox, messages, add, added } = await held({ ordered: true });
  const cancelled = record(9999);
  const changed = record(added());
  outbox.add('subject', cancelled);
  outbox.add('subject', changed);
  const position = changed.data.readUInt32BE(0);
  outbox.replace(changed, record(added()).data);
  assert.equal(changed.data.readUInt32BE(0), position);
  assert.equal(outbox.takeBack('subject', cancelled), true);
  add();
  hold.close();
  // The changed one has the number that the next one got as well.
  const expected = numbers(added());
  assert.deepEqual(messages.flat(), [...expected, expected.at(-1)]);
});

test('as many records as make a full turn end a hold, and a turn of more is one message', async () => {
  for (const count of [1024, 5000]) {
    const { hold, messages, add, added } = await held();
    for (let i = 0; i < count; i++) add();
    await twoTurns();
    assert.deepEqual(messages.flat(), numbers(added()));
    assert.ok(messages.at(-1).length > count);
    hold.close();
  }
});

test('as many bytes as a message can have end a hold', async () => {
  const { hold, outbox, left, added } = await held();
  for (let i = 0; i < 4; i++) {
    outbox.add('subject', { flags: 0, data: Buffer.alloc(256 * 1024) });
  }
  await twoTurns();
  assert.equal(left(), added() + 4);
  hold.close();
});

test('more subjects than an ordered turn can have: what is held leaves, and the rest is held', async () => {
  const { hold, messages, add, left, added } = await held({ ordered: true });
  // With the one that is held, the last of them is one too many.
  for (let subject = 0; subject < 128; subject++) add(false, `subject ${subject}`);
  assert.equal(left(), added() - 1);
  hold.close();
  assert.deepEqual(
    messages.flat().sort((a, b) => a - b),
    numbers(added()),
  );
});

test('skipped messages end a hold at the end of the turn', async () => {
  const { hold, outbox, left, added } = await held();
  outbox.skip('other');
  assert.ok(left() < added());
  await twoTurns();
  assert.equal(left(), added());
  hold.close();
});

test('two outboxes with one hold leave together', async () => {
  const { hold, left, added } = await held();
  const messages = [];
  const other = new TurnOutbox(linkOf(messages), { unit: 'batch', hold });
  other.add('subject', record(0));
  await twoTurns();
  assert.deepEqual([messages, left() < added()], [[], true]);
  other.add('subject', record(1), true);
  await twoTurns();
  assert.deepEqual([messages, left()], [[[0, 1]], added()]);
  hold.close();
});

test('without a hold a turn leaves at its end', async () => {
  const messages = [];
  const hold = turnHold({ maxDelay: 0, minSaving: 0 });
  assert.equal(hold, null);
  const outbox = new TurnOutbox(linkOf(messages), { unit: 'batch', hold });
  outbox.add('subject', record(0));
  outbox.add('subject', record(1));
  assert.deepEqual(messages, []);
  await twoTurns();
  assert.deepEqual(messages, [[0, 1]]);
});
