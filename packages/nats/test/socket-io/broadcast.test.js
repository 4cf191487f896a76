/** Who gets what another server broadcasts, and what exactly arrives. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inOneTurn, range } from '../../../millrace/test/ws/socket-io.js';
import { natsServer, unable } from '../nats.js';
import { openFleet, takeAll, whoGot, wholeFile } from './nodes.js';

const skip = unable;
const file = wholeFile();
let fleet;

before(async () => {
  if (skip) return;
  const broker = await natsServer(file);
  fleet = await openFleet(file, broker);
  const [a, b, c] = fleet.guests;
  await a.server.join('one');
  await b.server.join(['one', 'two']);
  await c.server.join('two');
});

const broadcasts = [
  ['all', 'abc', ([io]) => io.emit('m')],
  ['local', 'a', ([io]) => io.local.emit('m')],
  ['a room', 'ab', ([, , io]) => io.to('one').emit('m')],
  ['a room, local', 'b', ([, io]) => io.local.to('one').emit('m')],
  ['a room that nobody is in', '', ([io]) => io.to('none').emit('m')],
  ['two rooms, each client once', 'abc', ([io]) => io.to('one').to('two').emit('m')],
  ['a room but not another', 'a', ([, , io]) => io.to('one').except('two').emit('m')],
  ['all but a room', 'c', ([, io]) => io.except('one').emit('m')],
  ['all but two rooms', '', ([, io]) => io.except(['one', 'two']).emit('m')],
  ['a client of another server by its id', 'c', ([io], [, , c]) => io.to(c.server.id).emit('m')],
  ['all but a client of another server', 'ab', ([io], [, , c]) => io.except(c.server.id).emit('m')],
  ['others', 'bc', (_, [a]) => a.server.broadcast.emit('m')],
  ['others of a room', 'b', (_, [a]) => a.server.to('one').emit('m')],
  ['no compression', 'ab', ([io]) => io.to('one').compress(false).emit('m')],
  ['volatile', 'abc', ([io]) => io.volatile.emit('m')],
];

for (const [name, who, emit] of broadcasts) {
  test(`broadcast: ${name}`, { skip }, async () => {
    emit(fleet.ios, fleet.guests);
    assert.equal(await whoGot(fleet), who);
  });
}

test('a broadcast holds for clients of others what it holds for those of its own', {
  skip,
}, async () => {
  class Point {
    x = 1;
    #hidden = 2;
    get sum() {
      return this.x + this.#hidden;
    }
  }
  const buffer = Buffer.from('bytes');
  fleet.ios[0].emit(
    'm',
    ...[undefined, null, -0, Number.NaN, 'ä\u2028😀', new Date(0), new Map([[1, 2]]), new Point()],
    ...[
      { nothing: undefined, list: [undefined], deep: { buffer } },
      buffer,
      new Uint16Array([258]),
    ],
    new Uint8Array([7, 8, 9]).buffer,
  );
  // It may be used again right away.
  buffer.fill(0);
  const { a, b, c } = await takeAll(fleet);
  assert.equal(a.length, 1);
  assert.deepEqual(a[0].at(-3), Buffer.from('bytes'));
  assert.deepEqual(b, a);
  assert.deepEqual(c, a);
});

test('a value that cannot be encoded is thrown, and no client gets it', { skip }, async () => {
  assert.throws(() => fleet.ios[0].emit('m', 1n), TypeError);
  assert.throws(() => fleet.ios[0].serverSideEmit('m', 1n), TypeError);
  assert.deepEqual(await takeAll(fleet), { a: [], b: [], c: [] });
});

test('a message above the limit of the broker is thrown, and no client gets it', {
  skip,
}, async () => {
  const [io] = fleet.ios;
  const large = 'x'.repeat(1024 * 1024);
  assert.throws(() => io.emit('m', large), {
    code: 'MILLRACE_E_TOO_LARGE',
    message: /max_payload/,
  });
  io.local.emit('local', large);
  io.emit('many', 'x'.repeat(600_000));
  io.emit('many', 'x'.repeat(600_000));
  const { a, b } = await takeAll(fleet);
  assert.deepEqual(
    [a, b].map((all) => all.map(([event]) => event)),
    [
      ['local', 'many', 'many'],
      ['many', 'many'],
    ],
  );
});

test('order over rooms, all, and one client is that of the sender', { skip }, async () => {
  const [io] = fleet.ios;
  const [, b] = fleet.guests;
  const targets = [io, io.to('one'), io.to('two'), io.to(b.server.id), io.to(['one', 'two'])];
  let n = 0;
  for (let turn = 0; turn < 20; turn++) {
    await inOneTurn(
      range(10).map(() => () => {
        for (const _ of range(5)) targets[(n * 7) % 5].emit('m', n++);
      }),
    );
  }
  const received = await takeAll(fleet);
  assert.deepEqual(
    received.b.map(([, number]) => number),
    range(n),
  );
  for (const name of ['a', 'c']) {
    const numbers = received[name].map(([, number]) => number);
    assert.deepEqual(
      numbers,
      numbers.toSorted((x, y) => x - y),
    );
    assert.ok(numbers.length > n / 2);
  }
});

test('rooms that take turns in one turn keep their order beyond 128 of them', {
  skip,
}, async () => {
  const [io] = fleet.ios;
  const [, b] = fleet.guests;
  const rooms = range(150).map((n) => `many ${n}`);
  await b.server.join(rooms);
  for (const round of range(3))
    for (const [n, room] of rooms.entries()) io.to(room).emit('m', round * 150 + n);
  const received = await takeAll(fleet);
  assert.deepEqual(
    received.b.map(([, number]) => number),
    range(450),
  );
  for (const room of rooms) b.server.leave(room);
});

test('one turn makes one message for each subject, and none where nobody is', {
  skip,
}, async () => {
  const [io] = fleet.ios;
  const sent = () => fleet.nodes[0].adapter.stats().broker.sent;
  const received = () => fleet.nodes[2].adapter.stats().broker.received;
  await takeAll(fleet);
  const before = { sent: sent(), received: received() };
  await inOneTurn(
    range(10).map((n) => () => {
      io.to('one').emit('m', n);
      io.emit('m', n);
      io.to('elsewhere').emit('m', n);
    }),
  );
  const { a, b, c } = await takeAll(fleet);
  assert.deepEqual(
    [a, b, c].map(({ length }) => length),
    [20, 20, 10],
  );
  // With the fences, and a heartbeat now and then.
  assert.ok(sent() - before.sent < 30);
  assert.ok(received() - before.received < 30);
});

test('a packet of another server is seen by onAnyOutgoing', { skip }, async () => {
  const seen = [];
  const [, b] = fleet.guests;
  const note = (...message) => seen.push(message);
  b.server.onAnyOutgoing(note);
  fleet.ios[0].to('one').emit('m', { x: 1 }, Buffer.from('y'));
  await takeAll(fleet);
  b.server.offAnyOutgoing(note);
  assert.deepEqual(seen[0], ['m', { x: 1 }, Buffer.from('y')]);
});

test('broadcasts that may be held arrive whole and in order, before what is asked after them', {
  skip,
}, async (t) => {
  const broker = await natsServer(t);
  const held = await openFleet(t, broker, { count: 2, maxDelay: 60_000 });
  const [io] = held.ios;
  for (const number of range(500)) {
    io.emit('m', number);
    await nextTurn();
  }
  // An ask goes at the end of its turn, and what was held goes with it.
  const received = await takeAll(held);
  for (const guest of ['a', 'b']) {
    assert.deepEqual(
      received[guest].map(([, number]) => number),
      range(500),
    );
  }
});
