/** Rooms over everything that happens to the broker, the network and other nodes: work here goes on, and what is lost is counted. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { range, turn } from '../../../millrace/test/ws/hall.js';
import { natsServer } from '../nats.js';
import { node } from '../process.js';
import { proxy } from '../proxy.js';
import { rawTo } from '../raw.js';
import { away, back, openNode, openNodes, until } from './fleet.js';

const program = new URL('programs/node.js', import.meta.url);

async function publish(rooms, from, to) {
  for (let n = from; n < to; n++) {
    rooms.publish('x', `${n}`);
    if (n % 5 === 0) await turn();
  }
  await turn();
}

/** Counts add up: what was published is what came and what was missed. */
function addsUp(receiver, published) {
  const { received, missed, duplicates } = receiver.fleet();
  assert.equal(received + missed, published);
  assert.equal(duplicates, 0);
  const got = receiver.peer.received.map(Number);
  assert.equal(got.length, received);
  assert.deepEqual(
    got,
    [...got].sort((a, b) => a - b),
  );
}

test('without a broker at the start, members here are served, and others later', async (t) => {
  const server = await natsServer(t);
  await server.kill();
  const a = await openNode(t, { servers: server.url, connectTimeout: 200 });
  const b = await openNode(t, server.url);
  await assert.rejects(a.rooms.ready(), {
    code: 'MILLRACE_E_BROKER',
    message: /no broker answers at 127.0.0.1:\d+; start nats-server there/,
  });
  assert.equal(a.rooms.publish('x', '1'), 1);
  a.rooms.publish('y', '2');
  assert.deepEqual(await a.peer.take(), ['1']);
  assert.equal(a.fleet().unsent, 2);
  await server.start();
  // Its time for ready() is short.
  await back(a);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  a.rooms.publish('x', '3');
  await b.peer.until((received) => received.length > 0);
  assert.deepEqual(b.peer.received, ['3']);
});

test('required: nobody gets what others cannot get', async (t) => {
  const server = await natsServer(t);
  const a = await openNode(t, server.url, { required: true });
  const refused = { code: 'MILLRACE_E_BROKER', message: /is away, and these rooms require it/ };
  assert.throws(() => a.rooms.publish('x', '1'), refused);
  await a.rooms.ready();
  a.rooms.publish('x', '2');
  assert.deepEqual(await a.peer.take(), ['2']);
  await server.kill();
  await away(a);
  assert.throws(() => a.rooms.publish('x', '3'), refused);
  // To one socket, which is here.
  a.rooms.send(a.peer.server, '4');
  assert.deepEqual(await a.peer.take(), ['4']);
  assert.equal(a.fleet().unsent, 0);
});

test('credentials that are refused are said at once, and tried on', async (t) => {
  const server = await natsServer(t, { config: 'authorization { user: u, password: secret }' });
  const a = await openNode(t, { servers: server.url, user: 'u', password: 'wrong' });
  await assert.rejects(a.rooms.ready(), (error) => {
    assert.equal(error.code, 'MILLRACE_E_BROKER');
    assert.match(error.message, /refuses the credentials/);
    assert.doesNotMatch(error.message, /secret|wrong/);
    return true;
  });
  a.rooms.publish('x', '1');
  assert.deepEqual(await a.peer.take(), ['1']);
  const [b] = await openNodes(t, server.url.replace('//', '//u:secret@'), 1);
  assert.equal(b.fleet().link.state, 'up');
});

test('an account that may do no more than the documentation says', async (t) => {
  const config = `authorization { users: [{ user: u, password: p, permissions: {
    publish: ["millrace.rooms.>", "$JS.API.>", "$JS.FC.>"]
    subscribe: ["millrace.rooms.>", "_INBOX.>"] } }] }`;
  const server = await natsServer(t, { jetstream: true, config });
  const url = server.url.replace('//', '//u:p@');
  const options = { durable: (room) => room === 'd' };
  const [a, b] = await openNodes(t, url, 2, options);
  b.rooms.join(b.peer.server, 'd', { id: 'bob' });
  await b.rooms.ready();
  a.rooms.publish('x', 'plain');
  a.rooms.publish('d', 'durable');
  await a.rooms.acknowledged();
  await b.peer.until((received) => received.length === 2);
  await until(() => a.rooms.presence('d').length === 1);
});

test('a broker that is too old is refused, and members here are served', async (t) => {
  const info = { server_id: 'X', version: '2.8.4', proto: 1, max_payload: 1024, headers: true };
  const old = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
  });
  old.listen(0, '127.0.0.1');
  await once(old, 'listening');
  t.after(() => old.close());
  const a = await openNode(t, `nats://127.0.0.1:${old.address().port}`);
  const expected = { code: 'MILLRACE_E_BROKER', message: /nats-server 2\.8\.4; it must be 2\.9/ };
  await assert.rejects(a.rooms.ready(), expected);
  a.rooms.publish('x', '1');
  assert.deepEqual(await a.peer.take(), ['1']);
});

test('a network that is cut and healed: what was missed is counted', async (t) => {
  const server = await natsServer(t);
  const cable = await proxy(t, server.port);
  const a = await openNode(t, server.url);
  const b = await openNode(t, cable.url);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  await publish(a.rooms, 0, 50);
  await b.peer.until((received) => received.length === 50);
  cable.cut();
  await away(b);
  await publish(a.rooms, 50, 120);
  // It cannot say this to anybody.
  b.rooms.publish('x', 'alone');
  await b.peer.until((received) => received.at(-1) === 'alone');
  b.peer.received.pop();
  cable.heal();
  await back(b);
  await b.rooms.ready();
  await publish(a.rooms, 120, 150);
  await b.peer.until((received) => received.includes('149'));
  addsUp(b, 150);
  assert.equal(b.fleet().missed, 70);
  assert.equal(b.fleet().unsent, 1);
  assert.equal(a.fleet().unsent, 0);
});

test('kill -9 of the broker: work here goes on, and published is delivered and missed', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  await publish(a.rooms, 0, 100);
  await b.peer.until((received) => received.length > 0);
  await server.kill();
  await publish(a.rooms, 100, 300);
  assert.equal((await a.peer.take()).length, 300);
  await Promise.all([away(a), away(b)]);
  await server.start();
  await Promise.all([a, b].map(back));
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  await publish(a.rooms, 300, 400);
  await b.peer.until((received) => received.includes('399'));
  addsUp(b, 400);
  assert.ok(a.fleet().unsent > 0);
  assert.ok(b.fleet().missed >= a.fleet().unsent);
  assert.equal(b.fleet().link.reconnects, 1);
});

test('a node that stands still costs the others nothing, and counts what the broker dropped', async (t) => {
  // The broker keeps 64 KiB for who does not read, slows publishers down near that, and gives up after a second.
  const server = await natsServer(t, {
    config: 'max_payload: 32768, max_pending: 65536, write_deadline: "1s"',
  });
  const [a, c] = await openNodes(t, server.url, 2);
  const b = node(t, program, { BROKER: server.url });
  await b.says();
  await b.ask({ do: 'join', room: 'x' });
  await publish(a.rooms, 0, 10);
  await until(async () => (await b.ask({ do: 'count' }))[0] === 10);
  b.pause();
  // More than the kernel keeps for it as well; one after the other, or the broker would take `c` for slow too.
  const text = '.'.repeat(20_000);
  for (const n of range(1000)) {
    a.rooms.publish('x', text);
    await c.peer.until((received) => received.length > 10 + n);
  }
  assert.equal(c.fleet().missed, 0);
  b.resume();
  await until(async () => (await b.ask({ do: 'fleet' })).link.reconnects > 0);
  await until(async () => (await b.ask({ do: 'fleet' })).link.state === 'up');
  await publish(a.rooms, 2000, 2010);
  await until(async () => (await b.ask({ do: 'fleet' })).missed > 0);
  await until(async () => {
    const { received, missed } = await b.ask({ do: 'fleet' });
    return received + missed === 1020;
  });
});

test('a broker that stands still is sent so much and no more', async (t) => {
  const server = await natsServer(t);
  const a = await openNode(t, { servers: server.url, maxPending: 65_536 });
  const b = await openNode(t, server.url);
  await Promise.all([a, b].map(({ rooms }) => rooms.ready()));
  server.pause();
  // Few turns: if they took seconds, the connection would count as lost.
  for (const _ of range(30)) {
    a.rooms.publish('x', '.'.repeat(10_000));
    await turn();
  }
  assert.equal((await a.peer.take()).length, 30);
  assert.ok(a.fleet().link.pendingBytes <= 65_536);
  const { sent, unsent } = a.fleet();
  assert.ok(sent < 10 && unsent === 30 - sent);
  server.resume();
  await b.peer.until((received) => received.length === sent);
  await until(() => {
    a.rooms.publish('x', 'last');
    return b.peer.received.includes('last');
  });
  assert.ok(b.fleet().missed >= unsent);
});

test('messages of a raw client: copies and invalid batches are ignored', async (t) => {
  const server = await natsServer(t);
  const [a, b] = await openNodes(t, server.url, 2);
  const raw = await rawTo(t, server);
  const copies = [];
  const subject = 'millrace.rooms.room.x';
  raw.subscribe(subject, { callback: (_, { data }) => copies.push(Buffer.from(data)) });
  await raw.flush();
  for (const n of range(3)) a.rooms.publish('x', `${n}`);
  await until(() => copies.length === 1);
  const [batch] = copies;
  const cut = batch.subarray(0, batch.length - 1);
  const longer = Buffer.concat([batch, Buffer.from('x')]);
  const noise = [Buffer.alloc(0), Buffer.from('hello'), cut, longer];
  for (const bytes of [batch, ...noise, batch]) raw.publish(subject, bytes);
  // As another sender: flags that are none, and text that is none.
  const other = Buffer.from(batch);
  other.fill(1, 4, 13);
  other[23] = 0xff;
  other[23 + 6] = 1;
  other[23 + 6 + 5] = 0xff;
  raw.publish(subject, other);
  await raw.flush();
  a.rooms.publish('x', '3');
  await b.peer.until((received) => received.includes('3'));
  // The last one of the other sender was right.
  assert.deepEqual(b.peer.received, ['0', '1', '2', '2', '3']);
  const { duplicates, malformed, missed } = b.fleet();
  assert.deepEqual({ duplicates, malformed, missed }, { duplicates: 6, malformed: 6, missed: 0 });
  assert.equal(b.peer.closeCode, null);
});
