import assert from 'node:assert/strict';
import test from 'node:test';
import { runLoad } from '../index.js';
import { chatServer, rawServer, socketIoServer } from './servers.js';

const brief = {
  connections: 12,
  rooms: 3,
  mode: 'open',
  rate: 600,
  warmup: 0.2,
  seconds: 0.6,
  drain: 30,
  checkEvery: 1,
};

/** Losses are only certain when the drain is over: this is what a run with losses waits. */
const DRAIN_WITH_LOSSES = 3;

async function load(t, server, options) {
  t.after(() => server.close());
  return runLoad({ ...brief, port: server.port, ...options });
}

/** All four counts, so that one fault is never taken for another. */
function assertFaults(result, wanted) {
  const { lost, duplicated, reordered, corrupt } = result;
  const none = { lost: 0, duplicated: 0, reordered: 0, corrupt: 0 };
  assert.deepEqual({ lost, duplicated, reordered, corrupt }, { ...none, ...wanted });
  assert.equal(result.delivered, result.expected - lost);
  assert.equal(result.ok, false);
  assert.ok(result.first_fault === undefined || result.first_fault.length > 10);
}

/** A server that treats every n-th delivery in its own way. */
async function everyNth(n, fault) {
  let deliveries = 0;
  const server = await rawServer((member, text) => {
    if (++deliveries % n !== 0) return member.send(text);
    server.faults++;
    return fault(member, text);
  });
  return Object.assign(server, { faults: 0 });
}

test('dropped deliveries are counted as lost', async (t) => {
  const server = await everyNth(37, () => {});
  const result = await load(t, server, { drain: DRAIN_WITH_LOSSES });
  assert.ok(server.faults > 0);
  assertFaults(result, { lost: server.faults });
  assert.equal(result.lost_in_gaps + result.lost_at_end, result.lost);
  assert.ok(result.lost_in_gaps > 0);
});

test('a message dropped at the very end is lost at the end, not in a gap', async (t) => {
  // Everything from the 20th message of a sender on.
  let dropped = 0;
  const server = await rawServer((member, text) => {
    if (Number(text.split('.')[1]) < 20) member.send(text);
    else dropped++;
  });
  const result = await load(t, server, { drain: DRAIN_WITH_LOSSES });
  assert.ok(dropped > 0);
  assertFaults(result, { lost: dropped });
  assert.equal(result.lost_at_end, dropped);
  assert.equal(result.lost_in_gaps, 0);
});

test('repeated deliveries are counted as duplicated', async (t) => {
  const server = await everyNth(41, (member, text) => {
    member.send(text);
    member.send(text);
  });
  const result = await load(t, server);
  assert.ok(server.faults > 0);
  assertFaults(result, { duplicated: server.faults });
  assert.match(result.first_fault, /twice/);
});

test('a duplicate from far back is still a duplicate', async (t) => {
  const first = new Map();
  const repeated = new Set();
  const server = await rawServer((member, text) => {
    if (!first.has(member)) first.set(member, text);
    const { length } = text.split('.')[1];
    member.send(text);
    // Once, when some sender of the room has passed its hundredth message.
    if (length === 3 && !repeated.has(member)) {
      repeated.add(member);
      member.send(first.get(member));
    }
  });
  const result = await load(t, server, { rate: 6000 });
  assert.equal(repeated.size, 12);
  assertFaults(result, { duplicated: 12 });
});

test('swapped deliveries are counted as reordered', async (t) => {
  // Holds every 29th delivery back until the next of the same sender to the same member is out.
  const held = new Map();
  let deliveries = 0;
  let swapped = 0;
  const key = (text) => text.split('.')[0];
  const server = await rawServer((member, text) => {
    if (!held.has(member)) held.set(member, new Map());
    const mine = held.get(member);
    if (mine.has(key(text))) {
      member.send(text);
      member.send(mine.get(key(text)));
      mine.delete(key(text));
      swapped++;
    } else if (++deliveries % 29 === 0) {
      mine.set(key(text), text);
    } else {
      member.send(text);
    }
  });
  // What is still held when nobody sends any more never goes out: lost, and known to be.
  const result = await load(t, server, { drain: DRAIN_WITH_LOSSES });
  const kept = [...held.values()].reduce((sum, { size }) => sum + size, 0);
  assert.ok(swapped > 0);
  assertFaults(result, { reordered: swapped, lost: kept });
  assert.match(result.first_fault, /after a later one/);
});

test('a delivery that is very late is reordered and not duplicated', async (t) => {
  const held = new Map();
  const server = await rawServer((member, text) => {
    const [sender, seq] = text.split('.');
    if (sender !== '#0') return member.send(text);
    if (seq === '3') return held.set(member, text);
    member.send(text);
    if (seq === '300') member.send(held.get(member));
  });
  const result = await load(t, server, { rate: 6000 });
  assert.equal(held.size, 4);
  assertFaults(result, { reordered: 4 });
});

test('changed letters are counted as corrupt, and the message as delivered', async (t) => {
  const server = await everyNth(23, (member, text) => {
    const at = 40 + (server.faults % 60);
    member.send(`${text.slice(0, at)}?${text.slice(at + 1)}`);
  });
  const result = await load(t, server);
  assert.ok(server.faults > 0);
  assertFaults(result, { corrupt: server.faults });
  assert.match(result.first_fault, /was changed/);
});

test('cut messages are counted as corrupt however few are checked in full', async (t) => {
  const server = await everyNth(23, (member, text) => member.send(text.slice(0, 60)));
  const result = await load(t, server, { checkEvery: 1_000_000 });
  assert.ok(server.faults > 0);
  assertFaults(result, { corrupt: server.faults });
});

test('a message nobody can read any more is corrupt, and lost as the one it was', async (t) => {
  const server = await everyNth(31, (member, text) => member.send(text.replace('#', 'x')));
  const result = await load(t, server, { drain: DRAIN_WITH_LOSSES });
  assert.ok(server.faults > 0);
  assertFaults(result, { corrupt: server.faults, lost: server.faults });
});

test('changed numbers are seen even when another message could bear them', async (t) => {
  const server = await everyNth(31, (member, text) => {
    const [sender, seq, ...rest] = text.split('.');
    const wrong = seq.slice(0, -1) + ((Number(seq.at(-1)) + 1) % 10);
    member.send([sender, wrong, ...rest].join('.'));
  });
  const result = await load(t, server, { drain: DRAIN_WITH_LOSSES });
  assert.ok(server.faults > 0);
  assertFaults(result, { corrupt: server.faults, lost: server.faults });
});

test('a message from another room is corrupt', async (t) => {
  const members = [];
  let strays = 0;
  let deliveries = 0;
  const server = await rawServer(
    (member, text) => {
      member.send(text);
      if (++deliveries % 50 !== 0) return;
      // The connection that came next is in the next room.
      members[(members.indexOf(member) + 1) % members.length].send(text);
      strays++;
    },
    (member) => members.push(member),
  );
  const result = await load(t, server, { connectConcurrency: 1 });
  assert.ok(strays > 0);
  assertFaults(result, { corrupt: strays });
  assert.match(result.first_fault, /outside its room/);
});

test('malformed frames end the connection and are named', async (t) => {
  let broken = false;
  const server = await rawServer((member, text) => {
    member.send(text);
    if (broken) return;
    broken = true;
    member._socket.write(Buffer.from([0xc1, 0]));
  });
  const result = await load(t, server);
  assert.equal(result.corrupt, 1);
  assert.equal(result.closed_early, 1);
  assert.deepEqual(result.close_codes, { 1002: 1 });
  assert.equal(result.ok, false);
  assert.match(result.first_fault, /reserved bit/);
});

test('a connection that the server closes is counted with its code and what it was owed', async (t) => {
  let closed = null;
  const server = await rawServer((member, text) => {
    closed ??= member;
    if (closed !== member) member.send(text);
    else if (member.readyState === member.OPEN) member.close(1013, 'too slow');
  });
  const result = await load(t, server);
  assert.equal(result.closed_early, 1);
  assert.deepEqual(result.close_codes, { 1013: 1 });
  assert.match(result.first_fault, /too slow/);
  assert.ok(result.lost >= 1, 'the message that was never sent to it');
  assert.equal(result.lost, result.lost_on_closed);
  assert.equal(result.ok, false);
});

test('a slow reader reads nothing, is expected to get nothing, and may be closed', async (t) => {
  let deliveries = 0;
  const members = [];
  const server = await rawServer(
    (member, text) => {
      member.send(text);
      if (++deliveries !== 100) return;
      for (const slow of members.slice(-2)) slow.terminate();
    },
    (member) => members.push(member),
  );
  const result = await load(t, server, { slowReaders: 2, connectConcurrency: 1 });
  assert.equal(result.first_fault, undefined);
  assert.equal(result.ok, true);
  assert.equal(result.lost, 0);
  assert.equal(result.closed_early, 0);
  assert.equal(result.slow_closed, 2);
  assert.ok(result.expected < result.sent * 4);
});

test('chat: dropped and repeated deliveries are distinguished', async (t) => {
  let deliveries = 0;
  const counts = { lost: 0, duplicated: 0 };
  const server = await chatServer({
    deliver(member, frame) {
      deliveries++;
      if (deliveries % 50 === 0) {
        counts.lost++;
        return;
      }
      member.send(frame);
      if (deliveries % 50 === 25) {
        counts.duplicated++;
        member.send(frame);
      }
    },
  });
  const result = await load(t, server, { protocol: 'chat', drain: DRAIN_WITH_LOSSES });
  assert.ok(counts.lost > 0 && counts.duplicated > 0);
  assertFaults(result, counts);
});

test('socket.io: dropped, repeated and changed deliveries are distinguished', async (t) => {
  let messages = 0;
  const faults = { lost: 0, duplicated: 0, corrupt: 0 };
  const server = await socketIoServer({}, (io, room, text) => {
    const n = ++messages % 20;
    // Each room has four members.
    if (n === 5) faults.lost += 4;
    else if (n === 10) faults.corrupt += 4;
    if (n !== 5) io.to(room).emit('m', n === 10 ? text.replace('cde', 'c-e') : text);
    if (n !== 15) return;
    faults.duplicated += 4;
    io.to(room).emit('m', text);
  });
  const result = await load(t, server, { protocol: 'socket.io', drain: DRAIN_WITH_LOSSES });
  assert.ok(faults.lost > 0 && faults.duplicated > 0 && faults.corrupt > 0);
  assertFaults(result, faults);
});

test('socket.io: a connection that leaves the namespace has ended', async (t) => {
  let gone = false;
  const server = await socketIoServer({}, (io, room, text) => {
    io.to(room).emit('m', text);
    if (gone) return;
    gone = true;
    [...io.sockets.sockets.values()][0].disconnect();
  });
  const result = await load(t, server, { protocol: 'socket.io' });
  assert.equal(result.closed_early, 1);
  assert.match(result.first_fault, /disconnected it from the namespace/);
  assert.equal(result.ok, false);
});
