/** An application with `install`: what it sends arrives as without it, together. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Blob } from 'node:buffer';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { install } from 'millrace/ws';
import { Sender, WebSocket } from 'ws';
import { certificate } from './certificate.js';
import { openHall, range, stall, turn } from './hall.js';

/** `count` peers, with install in force until the test ends. */
async function setUp(t, count, { connect, ...options } = {}) {
  const hall = await openHall(t, options);
  const installation = install(WebSocket, {});
  t.after(() => installation.uninstall());
  return { installation, peers: await hall.connectMany(count, connect) };
}

/** What happened between two snapshots. */
function since(before, installation) {
  const now = installation.stats();
  const keys = ['frames', 'encoded', 'writes', 'groups'];
  return Object.fromEntries(keys.map((key) => [key, now[key] - before[key]]));
}

/** How often a socket is written to in whichever way; -1 where native sends do not show in the groups. */
const groups = ({ backend }, count) => (backend === 'js' ? 0 : count);

test('frames sent in a turn are encoded once, and leave once per socket', async (t) => {
  const { installation, peers } = await setUp(t, 5);
  const before = installation.stats();
  for (const n of range(20)) for (const { server } of peers) server.send(`message ${n}`);
  peers[4].server.send('only here');
  assert.equal(since(before, installation).writes, 0, 'nothing leaves inside send');
  await turn();
  assert.deepEqual(since(before, installation), {
    frames: 101,
    encoded: 21,
    writes: 5,
    groups: groups(before, 2),
  });
  const expected = range(20).map((n) => `message ${n}`);
  for (const peer of peers.slice(0, 4)) assert.deepEqual(await peer.take(), expected);
  assert.deepEqual(await peers[4].take(), [...expected, 'only here']);
});

test('sockets are grouped by what they send, in its order', async (t) => {
  const { installation, peers } = await setUp(t, 6);
  const before = installation.stats();
  const sent = [['a', 'b'], ['b', 'a'], ['a', 'b'], ['a'], ['b', 'a'], ['a', 'b', 'c']];
  sent.forEach((texts, n) => {
    for (const text of texts) peers[n].server.send(text);
  });
  await turn();
  assert.equal(since(before, installation).encoded, 3);
  assert.equal(since(before, installation).groups, groups(before, 4));
  for (const [n, texts] of sent.entries()) assert.deepEqual(await peers[n].take(), texts);
});

test('equal strings are one content, however they were made', async (t) => {
  const { installation, peers } = await setUp(t, 2);
  const before = installation.stats();
  for (const { server } of peers) server.send(['mes', 'sage'].join(''));
  for (const { server } of peers) server.send(`mess${'age'.slice(0)}`);
  await turn();
  assert.equal(since(before, installation).encoded, 1);
  for (const peer of peers) assert.deepEqual(await peer.take(), ['message', 'message']);
});

test('a buffer is sent as it is at the call, whatever is done to it later', async (t) => {
  const { installation, peers } = await setUp(t, 3);
  const before = installation.stats();
  const data = Buffer.from('0123456789'.repeat(30));
  const expected = [];
  for (const n of range(10)) {
    data.writeUInt8(0x61 + n, 299);
    expected.push(Buffer.from(data));
    for (const { server } of peers) server.send(data);
  }
  data.fill('!');
  await turn();
  assert.equal(since(before, installation).encoded, 10);
  for (const peer of peers) assert.deepEqual(await peer.take(), expected);
});

test('the same bytes as text and as binary are two contents', async (t) => {
  const { peers } = await setUp(t, 1);
  const data = Buffer.from('text');
  peers[0].server.send(data, { binary: false });
  peers[0].server.send(data, { binary: true });
  peers[0].server.send(data);
  peers[0].server.send('text', { binary: true });
  peers[0].server.send('text');
  assert.deepEqual(await peers[0].take(), ['text', data, data, data, 'text']);
});

test('all that send takes arrives as without install, in order', async (t) => {
  const { peers } = await setUp(t, 1);
  const [{ server }] = peers;
  const sizes = [0, 1, 125, 126, 127, 65_535, 65_536, 300_000];
  const given = [
    ...sizes.map((size) => 'x'.repeat(size)),
    ...sizes.map((size) => Buffer.alloc(size, 7)),
    'öäü 界 🌍',
    12.5,
    new Uint16Array([1, 2, 3]),
    new Uint8Array([4, 5, 6]).buffer,
    new DataView(new Uint8Array([7, 8, 9]).buffer, 1),
    [1, 2, 3],
    undefined,
    new Blob(['blob']),
    'after the blob',
    null,
  ];
  for (const data of given) server.send(data);
  const whole = (view) => Buffer.from(view.buffer ?? view, view.byteOffset, view.byteLength);
  const expected = given.map((data) => {
    if (typeof data === 'number') return String(data);
    if (data === undefined || data === null) return Buffer.alloc(0);
    if (data instanceof Blob) return Buffer.from('blob');
    if (Array.isArray(data)) return Buffer.from(data);
    return typeof data === 'string' ? data : whole(data);
  });
  await peers[0].until((received) => received.length === given.length);
  assert.deepEqual(peers[0].received, expected);
});

test('callbacks come after the write, in order, and not inside send', async (t) => {
  const { peers } = await setUp(t, 3);
  const calls = [];
  for (const n of range(3)) {
    for (const [i, { server }] of peers.entries()) {
      server.send(`${n}`, (...args) => calls.push([i, n, args[0] ?? null]));
    }
  }
  peers[0].server.send(Buffer.from('3'), { binary: false }, () => calls.push([0, 3, null]));
  assert.deepEqual(calls, []);
  for (const { server } of peers) {
    await new Promise((resolve) => server.send('last', resolve));
  }
  const of = (i) => calls.filter(([peer]) => peer === i);
  assert.deepEqual(of(0), [
    [0, 0, null],
    [0, 1, null],
    [0, 2, null],
    [0, 3, null],
  ]);
  assert.deepEqual(of(1), [
    [1, 0, null],
    [1, 1, null],
    [1, 2, null],
  ]);
  assert.deepEqual(await peers[2].take(), ['0', '1', '2', 'last']);
});

test('a callback sees the async context of its send', async (t) => {
  const { peers } = await setUp(t, 2);
  const storage = new AsyncLocalStorage();
  const seen = [];
  const done = peers.flatMap(({ server }, i) =>
    range(2).map(
      (n) =>
        new Promise((resolve) => {
          storage.run(`${i}.${n}`, () => {
            server.send('x', () => {
              seen.push(storage.getStore());
              resolve();
            });
          });
        }),
    ),
  );
  await Promise.all(done);
  assert.deepEqual(seen.sort(), ['0.0', '0.1', '1.0', '1.1']);
});

test('a callback that throws is an uncaught exception, and the others are called', async (t) => {
  const { peers } = await setUp(t, 2);
  const failure = new Error('thrown by a callback');
  // node:test has a listener of its own for these.
  const usual = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
  const called = [];
  try {
    peers[0].server.send('1', () => called.push(1));
    peers[0].server.send('2', () => {
      throw failure;
    });
    peers[0].server.send('3', () => called.push(3));
    await new Promise((resolve) => peers[1].server.send('4', resolve));
    assert.equal(await uncaught, failure);
  } finally {
    for (const listener of usual) process.on('uncaughtException', listener);
  }
  await turn();
  assert.deepEqual(called, [1, 3]);
  assert.deepEqual(await peers[0].take(), ['1', '2', '3']);
});

test('send throws while connecting, and calls back with an error after close', async (t) => {
  const { peers } = await setUp(t, 1);
  const client = new WebSocket('ws://127.0.0.1:1');
  client.on('error', () => {});
  assert.throws(() => client.send('too soon'), /CONNECTING/);
  const { server } = peers[0];
  server.send('1');
  server.close(1000);
  const error = await new Promise((resolve) => server.send('too late', resolve));
  assert.match(error.message, /CLOSING/);
  assert.equal(await peers[0].closed, 1000);
  assert.deepEqual(peers[0].received, ['1']);
});

test('pings, pongs and fragments keep their place', async (t) => {
  const { peers } = await setUp(t, 1);
  const [{ server, client }] = peers;
  const events = [];
  client.on('message', (data) => events.push(data.toString()));
  client.on('ping', (data) => events.push(`ping ${data}`));
  client.on('pong', (data) => events.push(`pong ${data}`));
  server.send('1');
  server.ping('a');
  server.send('2');
  server.send('3');
  server.pong('b');
  server.send('fr', { fin: false });
  server.ping('c');
  server.send('ag', { fin: false });
  server.send('ment', { fin: true });
  server.send('4');
  server.send(new Blob(['5']));
  server.send('6');
  server.ping('d');
  server.send('7');
  await peers[0].until((received) => received.at(-1) === '7');
  const expected = '1,ping a,2,3,pong b,ping c,fragment,4,5,6,ping d,7';
  assert.equal(events.join(), expected);
});

test('bufferedAmount leaves out the turn, and counts what the kernel has not taken', async (t) => {
  const { peers } = await setUp(t, 1);
  const [peer] = peers;
  peer.server.send('x'.repeat(1000));
  assert.equal(peer.server.bufferedAmount, 0);
  await stall(peer);
  const before = peer.server.bufferedAmount;
  assert.ok(before > 0);
  peer.server.send('x'.repeat(1000));
  assert.equal(peer.server.bufferedAmount, before);
  await turn();
  assert.equal(peer.server.bufferedAmount, before + 1004);
});

test('the frames of one socket leave when they reach maxPendingBytes', async (t) => {
  const hall = await openHall(t);
  const installation = install(WebSocket, { maxPendingBytes: 1000 });
  t.after(() => installation.uninstall());
  const [peer] = await hall.connectMany(1);
  // Nothing else would ever end it: the loop has to see what the kernel does not take.
  peer.client.pause();
  let sent = 0;
  while (peer.server.bufferedAmount === 0) {
    peer.server.send(`${sent++}`.padEnd(600));
  }
  // Two of them are enough.
  assert.equal(installation.stats().writes, sent >> 1);
  peer.client.resume();
  await peer.until((received) => received.length === sent);
  assert.deepEqual(
    peer.received.map((text) => Number(text)),
    range(sent),
  );
});

test('sockets with permessage-deflate go on as they are', async (t) => {
  const { installation, peers } = await setUp(t, 2, {
    perMessageDeflate: { threshold: 0 },
    connect: { perMessageDeflate: true },
  });
  assert.match(peers[0].server.extensions, /deflate/);
  const before = installation.stats();
  const texts = range(50).map((n) => `text ${n}`.repeat(n));
  for (const text of texts) for (const { server } of peers) server.send(text);
  for (const { server } of peers) server.send('not compressed', { compress: false });
  for (const { server } of peers) server.send('last');
  for (const peer of peers) {
    await peer.until((received) => received.length === 52);
    assert.deepEqual(peer.received, [...texts, 'not compressed', 'last']);
  }
  assert.ok(since(before, installation).frames <= 2);
});

test("clients' sockets go on as they are: what they send is masked", async (t) => {
  const { installation, peers } = await setUp(t, 1);
  const [{ server, client }] = peers;
  const before = installation.stats();
  const received = new Promise((resolve) => {
    const messages = [];
    server.on('message', (data) => {
      if (messages.push(data.toString()) === 100) resolve(messages);
    });
  });
  for (const n of range(100)) client.send(`up ${n}`);
  assert.deepEqual(
    await received,
    range(100).map((n) => `up ${n}`),
  );
  assert.equal(since(before, installation).frames, 0);
});

test('over TLS what a turn sends is one write', async (t) => {
  const hall = await openHall(t, {}, createServer(certificate()));
  const installation = install(WebSocket);
  t.after(() => installation.uninstall());
  const peers = await hall.connectMany(2, { rejectUnauthorized: false });
  assert.ok(peers[0].socket.encrypted);
  const before = installation.stats();
  const calls = [];
  for (const n of range(20)) {
    for (const { server } of peers) server.send(`message ${n}`, (error) => calls.push(error ?? n));
  }
  await turn();
  assert.equal(since(before, installation).writes, 2);
  for (const peer of peers) {
    assert.deepEqual(
      await peer.take(),
      range(20).map((n) => `message ${n}`),
    );
  }
  assert.equal(calls.length, 40);
});

test('sockets of derived classes gain as well', async (t) => {
  class Derived extends WebSocket {}
  const { installation, peers } = await setUp(t, 2, { WebSocket: Derived });
  assert.ok(peers[0].server instanceof Derived);
  const before = installation.stats();
  for (const { server } of peers) server.send('x');
  for (const peer of peers) assert.deepEqual(await peer.take(), ['x']);
  assert.equal(since(before, installation).frames, 2);
  assert.equal(install(Derived), installation);
});

test('a frame that a library has encoded itself keeps its place, and may change after', async (t) => {
  const { installation, peers } = await setUp(t, 3);
  const before = installation.stats();
  const payload = Buffer.from('encoded once');
  const options = { fin: true, rsv1: false, mask: false, readOnly: false, opcode: 1 };
  const bytes = Sender.frame(payload, options);
  const text = [bytes[0], 'a string too'];
  for (const { server } of peers) {
    server.send('before');
    server._sender.sendFrame(bytes);
    server._sender.sendFrame(text);
    server.send('after');
  }
  assert.equal(since(before, installation).encoded, 4);
  payload.write('E');
  text[1] = 'A STRING TOO';
  for (const { server } of peers) server._sender.sendFrame(bytes);
  for (const { server } of peers) server._sender.sendFrame(text);
  assert.equal(since(before, installation).encoded, 6);
  const expected = [
    'before',
    'encoded once',
    'a string too',
    'after',
    'Encoded once',
    'A STRING TOO',
  ];
  for (const peer of peers) assert.deepEqual(await peer.take(), expected);
});

test('installing twice is installing once; uninstall sends what is gathered and restores', async (t) => {
  const { send, sendFrame } = Sender.prototype;
  const { installation, peers } = await setUp(t, 1);
  assert.equal(install(WebSocket, { maxDelay: 5 }), installation);
  assert.notEqual(Sender.prototype.send, send);
  peers[0].server.send('1');
  installation.uninstall();
  assert.equal(installation.stats().writes, 1);
  assert.equal(Sender.prototype.send, send);
  assert.equal(Sender.prototype.sendFrame, sendFrame);
  installation.uninstall();
  peers[0].server.send('2');
  assert.equal(installation.stats().frames, 1);
  const again = install(WebSocket);
  t.after(() => again.uninstall());
  assert.notEqual(again, installation);
  installation.uninstall();
  peers[0].server.send('3');
  assert.equal(again.stats().frames, 1);
  assert.deepEqual(await peers[0].take(), ['1', '2', '3']);
});

test('a method wrapped after install stays wrapped after uninstall', async (t) => {
  const { prototype } = Sender;
  const original = prototype.send;
  const { installation, peers } = await setUp(t, 1);
  const { send } = prototype;
  let calls = 0;
  const wrapped = function (...args) {
    calls++;
    return send.apply(this, args);
  };
  prototype.send = wrapped;
  peers[0].server.send('1');
  installation.uninstall();
  assert.equal(prototype.send, wrapped);
  peers[0].server.send('2');
  assert.equal(installation.stats().frames, 1);
  assert.deepEqual(await peers[0].take(), ['1', '2']);
  assert.equal(calls, 2);
  prototype.send = original;
});

test('only WebSocket of ws is taken', () => {
  class WithoutSender {
    setSocket() {}
    terminate() {}
  }
  class OtherSender {
    _sender = { _firstFragment: true };
    setSocket() {}
    terminate() {}
  }
  // As in ws 6.2.0 and older, which puts header and payload of a small frame into one buffer.
  class OlderSender extends Sender {
    static frame(...args) {
      return [Buffer.concat(Sender.frame(...args))];
    }
    send() {}
    sendFrame() {}
  }
  class Older {
    setSocket(socket) {
      this._sender = new OlderSender(socket, {});
    }
    terminate() {}
  }
  const bad = [
    Older,
    undefined,
    null,
    {},
    'ws',
    () => {},
    class {},
    EventTarget,
    WithoutSender,
    OtherSender,
  ];
  for (const value of bad) {
    assert.throws(() => install(value), {
      code: 'MILLRACE_E_INVALID_ARGUMENT',
      message:
        /^the class is .+; it must be WebSocket of the ws package, version 6\.2\.1 to 8, or derived/,
    });
  }
  assert.throws(() => install(WithoutSender), { message: /^the class is WithoutSender; / });
});

test('options are checked before anything is changed', () => {
  const { send } = Sender.prototype;
  const bad = [
    null,
    [],
    5,
    { maxdelay: 1 },
    { maxDelay: -1 },
    { maxDelay: '5' },
    { maxDelay: Number.NaN },
    { maxDelay: 60_001 },
    { maxPendingBytes: 0 },
    { maxPendingBytes: 1.5 },
    { maxPendingBytes: Number.POSITIVE_INFINITY },
  ];
  for (const options of bad) {
    assert.throws(() => install(WebSocket, options), { code: 'MILLRACE_E_INVALID_OPTION' });
  }
  assert.equal(Sender.prototype.send, send);
});
