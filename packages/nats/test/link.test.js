// The connection to the broker: it comes, goes and comes back, and says what is wrong.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Link } from '../dist/link.js';
import { natsServer, unable } from './nats.js';
import { patient, patiently } from './patience.js';
import { node } from './process.js';
import { proxy } from './proxy.js';

const skip = unable;
const isBroker = (pattern) => (error) => {
  assert.equal(error.code, 'MILLRACE_E_BROKER');
  assert.match(error.message, pattern);
  assert.doesNotMatch(error.message, /s3cret/);
  return true;
};

/** A connection that ends with the test. */
function link(t, options) {
  const made = new Link(patient(options), 'test');
  t.after(() => made.close());
  return made;
}

/** What is heard on a subject, and `next()` for the first of it that was not asked for. */
function hear(on, subject) {
  const heard = [];
  const waiting = [];
  const stop = on.subscribe(subject, (payload, arrival) => {
    heard.push([arrival.subject, String(payload)]);
    waiting.shift()?.();
  });
  const next = async () => {
    if (heard.length === 0) await new Promise((resolve) => waiting.push(resolve));
    return heard.shift();
  };
  return { heard, next, stop };
}

/** Nothing more is on its way from `from` to `to`. */
async function settle(from, to) {
  await from.flush();
  await to.flush();
}

test('messages reach others and never the sender', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const [a, b] = [link(t, url), link(t, url)];
  const subject = a.subject('room', 'x y.>');
  assert.equal(subject, 'millrace.room.x=20y=2e=3e');
  // Before there is a connection.
  const own = hear(a, subject);
  const other = hear(b, subject);
  const all = hear(b, 'millrace.*.>');
  await Promise.all([a.ready(), b.ready()]);
  await settle(b, b);
  assert.equal(a.publish(subject, Buffer.from('hello')), true);
  assert.deepEqual(await other.next(), [subject, 'hello']);
  assert.deepEqual(await all.next(), [subject, 'hello']);
  await settle(a, a);
  assert.deepEqual(own.heard, []);
  other.stop();
  other.stop();
  a.publish(subject, Buffer.from('again'));
  assert.deepEqual(await all.next(), [subject, 'again']);
  assert.deepEqual(other.heard, []);
  const { sent, sentBytes, received, state } = a.stats();
  assert.deepEqual(
    { sent, sentBytes, received, state },
    { sent: 2, sentBytes: 10, received: 0, state: 'up' },
  );
  assert.deepEqual([b.stats().received, b.stats().receivedBytes], [3, 15]);
  assert.match(a.node, /^[\w-]{12}$/);
  assert.notEqual(a.node, b.node);
});

test('a broker that is absent at the start is found when it comes', { skip }, async (t) => {
  const server = await natsServer(t);
  await server.kill();
  const servers = server.url.replace('//', '//me:s3cret@');
  const made = link(t, { servers, connectTimeout: 500 });
  const heard = hear(made, 'x');
  assert.equal(made.state, 'connecting');
  assert.equal(made.publish('x', Buffer.from('')), false);
  await assert.rejects(
    patiently(() => made.ready()),
    isBroker(/^no broker answers at 127\.0\.0\.1:\d+; start nats-server there/),
  );
  await assert.rejects(made.flush(), isBroker(/^no broker answers/));
  const up = once(made, 'up');
  await server.start();
  await up;
  assert.equal(await made.ready(), made);
  const other = await link(t, server.url).ready();
  await made.flush();
  other.publish('x', Buffer.from('there'));
  assert.deepEqual(await heard.next(), ['x', 'there']);
  assert.deepEqual(made.stats().unsent, { away: 1, full: 0 });
});

test('after kill -9 and a new start all is as before', { skip }, async (t) => {
  const server = await natsServer(t);
  const [a, b] = await Promise.all([link(t, server.url).ready(), link(t, server.url).ready()]);
  const { heard, next } = hear(b, 'x');
  for (let round = 1; round <= 3; round++) {
    const downs = [once(a, 'down'), once(b, 'down')];
    await server.kill();
    const [[error]] = await Promise.all(downs);
    isBroker(/^the broker at 127\.0\.0\.1:\d+ is away$/)(error);
    assert.equal(a.state, 'down');
    assert.equal(a.publish('x', Buffer.from('lost')), false);
    const ups = [once(a, 'up'), once(b, 'up')];
    await server.start();
    await Promise.all(ups);
    await b.flush();
    a.publish('x', Buffer.from(String(round)));
    assert.deepEqual(await next(), ['x', String(round)]);
    assert.equal(a.stats().reconnects, round);
  }
  assert.deepEqual(heard, []);
  assert.deepEqual(a.stats().unsent, { away: 3, full: 0 });
});

test('a connection that is cut comes back', { skip }, async (t) => {
  const server = await natsServer(t);
  const between = await proxy(t, server.port);
  const made = await link(t, between.url).ready();
  const down = once(made, 'down');
  between.cut();
  await down;
  const up = once(made, 'up');
  between.heal();
  await up;
  await made.flush();
});

test('a broker that stands still: no more than maxPending bytes wait for it', {
  skip,
}, async (t) => {
  const server = await natsServer(t);
  const maxPending = 2 * 1024 * 1024;
  const made = await link(t, { servers: server.url, maxPending }).ready();
  const payload = Buffer.alloc(100_000);
  server.pause();
  let taken = 0;
  // Far more than the kernel takes by itself.
  for (let i = 0; i < 100; i++) {
    if (made.publish('x', payload)) taken++;
    // Few turns: if they took seconds, the connection would count as lost.
    if (i % 25 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { pendingBytes, unsent, sentBytes } = made.stats();
  assert.equal(taken, Math.floor(maxPending / payload.length));
  assert.equal(unsent.full, 100 - taken);
  assert.ok(pendingBytes <= maxPending && sentBytes === taken * payload.length);
  server.resume();
  await made.flush();
  assert.equal(made.stats().pendingBytes, 0);
  assert.equal(made.publish('x', payload), true);
});

test('pending bytes are confirmed without a flush, also for senders of large messages', {
  skip,
}, async (t) => {
  const server = await natsServer(t);
  const maxPending = 1_500_000;
  const made = await link(t, { servers: server.url, maxPending }).ready();
  const payload = Buffer.alloc(700_000);
  server.pause();
  assert.deepEqual(
    [1, 2, 3].map(() => made.publish('x', payload)),
    [true, true, false],
  );
  server.resume();
  while (!made.publish('x', payload)) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('a payload above the limit of the broker is refused here', { skip }, async (t) => {
  const { url } = await natsServer(t, { config: 'max_payload: 2000' });
  const made = link(t, url);
  assert.equal(made.maxPayload, 1024 * 1024);
  await made.ready();
  assert.equal(made.maxPayload, 2000);
  assert.equal(made.publish('x', Buffer.alloc(2000)), true);
  const tooLarge = {
    code: 'MILLRACE_E_TOO_LARGE',
    message: /2001 bytes is above the broker's limit of 2000/,
  };
  assert.throws(() => made.publish('x', Buffer.alloc(2001)), tooLarge);
  await made.flush();
  assert.equal(made.state, 'up');
});

test('a broker that is too old is refused, and asked again', async (t) => {
  const info = { server_id: 'x', version: '2.8.0', max_payload: 1048576, headers: true, proto: 1 };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => String(data).includes('PING') && socket.write('PONG\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const made = link(t, `nats://127.0.0.1:${server.address().port}`);
  await assert.rejects(made.ready(), isBroker(/is nats-server 2\.8\.0; it must be 2\.9 or later$/));
  const again = once(server, 'connection');
  await again;
  assert.equal(made.state, 'connecting');
});

test('a server that is no broker keeps no process alive', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400\r\n\r\n'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const made = link(t, {
    servers: `nats://127.0.0.1:${server.address().port}`,
    connectTimeout: 300,
  });
  await assert.rejects(made.ready(), isBroker(/127\.0\.0\.1/));
});

test('without JetStream a stream is refused with the way out', { skip }, async (t) => {
  const server = await natsServer(t);
  const made = link(t, server.url);
  await assert.rejects(
    patiently(() => made.jetstream()),
    isBroker(/has no JetStream; start nats-server with -js/),
  );
  const other = await natsServer(t, { jetstream: true });
  const more = link(t, other.url);
  const { jsm } = await patiently(() => more.jetstream());
  assert.equal((await patiently(() => jsm.getAccountInfo())).streams, 0);
});

test('listeners that throw are uncaught exceptions and stop nothing', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const peer = node(t, new URL('./programs/throws.js', import.meta.url), { URL: url });
  assert.deepEqual(await peer.says((said) => Array.isArray(said)), ['up', 'message', 'message']);
  assert.equal(await peer.ends(), 0);
});

for (const [what, env] of Object.entries({
  'after close()': { WHEN: 'up' },
  'closed while it connects': { WHEN: 'connecting' },
  'closed between two attempts': { WHEN: 'down' },
  'closed while the broker is away': { WHEN: 'away' },
  'closed while ready() waits': { WHEN: 'ready' },
})) {
  test(`a process ends by itself: ${what}`, { skip }, async (t) => {
    const server = await natsServer(t);
    if (env.WHEN === 'down' || env.WHEN === 'ready') await server.kill();
    const peer = node(t, new URL('./programs/closes.js', import.meta.url), {
      URL: server.url,
      ...env,
    });
    if (env.WHEN === 'away') {
      await peer.says((said) => said === 'up');
      await server.kill();
    }
    assert.equal(await peer.says((said) => said === 'closed'), 'closed');
    assert.equal(await peer.ends(), 0);
  });
}

test('after close() nothing works and nothing fails loudly', { skip }, async (t) => {
  const { url } = await natsServer(t);
  const made = await link(t, url).ready();
  const other = await link(t, url).ready();
  const { next } = hear(other, 'x');
  await other.flush();
  const stop = made.subscribe('y', () => {});
  made.publish('x', Buffer.from('the last'));
  const closed = once(made, 'close');
  await Promise.all([made.close(), made.close(), closed]);
  assert.deepEqual(await next(), ['x', 'the last']);
  stop();
  made.subscribe('z', () => {})();
  assert.equal(made.publish('x', Buffer.from('')), false);
  assert.equal(made.state, 'closed');
  const isClosed = { code: 'MILLRACE_E_CLOSED' };
  await assert.rejects(made.ready(), isClosed);
  await assert.rejects(made.flush(), isClosed);
  await assert.rejects(made.jetstream(), isClosed);
});
