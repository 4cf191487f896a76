import assert from 'node:assert/strict';
import test from 'node:test';
import { runLoad } from '../index.js';
import {
  chatServer,
  choppingProxy,
  rawServer,
  socketIoApplication,
  socketIoServer,
} from './servers.js';

/** The drain and the connecting are over when all is there, and may take long on a busy machine. */
const brief = {
  ...{ connections: 12, rooms: 3, warmup: 0.2, seconds: 0.6 },
  ...{ drain: 600, connectTimeout: 600 },
};

/** What must hold after a run without faults. */
function assertClean(result) {
  assert.equal(result.first_fault, undefined);
  assert.equal(result.ok, true);
  assert.equal(result.partial, false);
  assert.ok(result.sent > 0, 'something was sent');
  assert.equal(result.delivered, result.expected);
  for (const fault of ['unsent', 'lost', 'duplicated', 'reordered', 'corrupt', 'closed_early']) {
    assert.equal(result[fault], 0, fault);
  }
}

async function load(t, server, options) {
  t.after(() => server.close());
  return runLoad({ ...brief, port: server.port, ...options });
}

test('closed loop: every message reaches every member of its room', async (t) => {
  const result = await load(t, await rawServer(), { mode: 'closed', checkEvery: 1 });
  assertClean(result);
  assert.equal(result.expected, result.sent * 4);
  assert.equal(result.checked, result.delivered);
  // Of what was sent in the window, which is nothing where a busy machine stands still for as long.
  assert.ok(result.latency.n >= result.latency_echo.n);
  assert.ok(result.latency.p50 <= result.latency.max);
});

test('closed loop: no more than the wanted number of messages is under way', async (t) => {
  const underWay = new Map();
  let most = 0;
  const server = await rawServer((member, text) => {
    const sender = text.split('.')[0];
    const count = (underWay.get(sender) ?? 0) + 1;
    underWay.set(sender, count);
    most = Math.max(most, count);
    setImmediate(() => {
      underWay.set(sender, underWay.get(sender) - 1);
      member.send(text);
    });
  });
  const result = await load(t, server, { connections: 3, rooms: 3, inflight: 5 });
  assertClean(result);
  assert.equal(most, 5);
});

test('open loop: the number of messages follows from the rate alone', async (t) => {
  const options = { mode: 'open', rate: 500, spacing: 'uniform' };
  const result = await load(t, await rawServer(), options);
  assertClean(result);
  assert.equal(result.scheduled, 400);
  assert.equal(result.sent, 400);
  assert.equal(result.latency.n, 300 * 4);
});

test('open loop: a rate of deliveries is divided by the room size', async (t) => {
  const options = { mode: 'open', deliveriesRate: 2000, spacing: 'uniform' };
  const result = await load(t, await rawServer(), options);
  assertClean(result);
  assert.equal(result.sent, 400);
  assert.equal(result.expected, 1600);
});

test('open loop: an offer beyond what can be sent is counted whole, and what was sent is checked', async (t) => {
  const options = { mode: 'open', rate: 10e6, spacing: 'uniform', warmup: 0, seconds: 0.3 };
  const result = await load(t, await rawServer(), { ...options, drain: 0.1 });
  assert.equal(result.scheduled, 3_000_000);
  assert.ok(result.unsent > 0);
  assert.equal(result.sent + result.unsent, result.scheduled);
  assert.equal(result.expected, result.sent * 4);
  assert.ok(result.delivered <= result.expected);
  const { duplicated, reordered, corrupt, lost_in_gaps: gaps } = result;
  assert.deepEqual([duplicated, reordered, corrupt, gaps], [0, 0, 0, 0]);
});

test('the same seed gives the same schedule', async (t) => {
  const server = await rawServer();
  const options = { mode: 'open', rate: 800, users: 'blend', pattern: 'ramp', seed: 77 };
  const first = await load(t, server, options);
  const again = await load(t, server, options);
  assertClean(first);
  assertClean(again);
  assert.equal(first.seed, 77);
  assert.equal(first.config.users, 'blend');
  assert.equal(again.sent, first.sent);
});

test('only the chosen senders send, and everybody receives', async (t) => {
  const senders = new Set();
  const server = await rawServer((member, text) => {
    senders.add(text.split('.')[0]);
    member.send(text);
  });
  const result = await load(t, server, { senders: 2, mode: 'open', rate: 200 });
  assertClean(result);
  assert.deepEqual([...senders].sort(), ['#0', '#1']);
  assert.equal(result.expected, result.sent * 4);
});

test('frames that arrive split anywhere are put together', async (t) => {
  const server = await rawServer();
  t.after(() => server.close());
  const proxy = await choppingProxy(server.port);
  const options = { mode: 'open', rate: 100, checkEvery: 1, payload: 300 };
  assertClean(await load(t, proxy, options));
});

test('frames over 64 KB are read and written', async (t) => {
  const options = { mode: 'open', rate: 50, payload: 70_000, checkEvery: 1 };
  const result = await load(t, await rawServer(), options);
  assertClean(result);
  assert.ok(result.bytes > result.delivered * 70_000);
});

test('fragmented messages with pings between the fragments are read, pings answered', async (t) => {
  let pings = 0;
  let pongs = 0;
  const server = await rawServer(
    (member, text) => {
      member.send(text.slice(0, 30), { fin: false });
      member.ping(`${++pings}`);
      member.send(text.slice(30, 31), { fin: false });
      member.send(text.slice(31), { fin: true });
    },
    (member) => member.on('pong', () => pongs++),
  );
  const result = await load(t, server, { mode: 'open', rate: 200, checkEvery: 1 });
  assertClean(result);
  assert.equal(pongs, pings);
});

test('messages of another priority may overtake, within a priority the order is kept', async (t) => {
  // High leaves at once, low last, normal between, each in its own order.
  const held = new Map();
  const delay = { '!': 0, '#': 5, '~': 10 };
  const server = await rawServer((member, text) => {
    const key = text[0];
    if (!held.has(member)) held.set(member, { '!': [], '#': [], '~': [] });
    const queue = held.get(member)[key];
    queue.push(text);
    setTimeout(() => member.send(queue.shift()), delay[key]);
  });
  const result = await load(t, server, { mode: 'open', rate: 1500, pattern: 'mixed' });
  assertClean(result);
  const { high, normal, low } = result.by_priority;
  assert.ok(high.sent > 0 && low.sent > high.sent && normal.sent > low.sent);
  for (const { expected, delivered } of [high, normal, low]) assert.equal(delivered, expected);
});

test('chat: joins, sends, receives and counts acknowledgements', async (t) => {
  const server = await chatServer();
  const result = await load(t, server, {
    protocol: 'chat',
    mode: 'open',
    rate: 300,
    checkEvery: 1,
  });
  assertClean(result);
  assert.deepEqual(server.seen.names.slice(0, 2), ['load-0', 'load-1']);
  assert.equal(result.acks, result.sent);
  assert.equal(result.expected, result.sent * 4);
});

test('chat: acknowledgements are asked for only when wanted', async (t) => {
  const server = await chatServer();
  const result = await load(t, server, { protocol: 'chat', noAcks: true });
  assertClean(result);
  assert.equal(server.seen.refs, 0);
  assert.equal(result.acks, 0);
});

test('chat: a history that holds messages of an earlier run is no delivery', async (t) => {
  const text = `#0.0.0.${'v'.repeat(93)}`;
  const history = [{ t: 'msg', id: 1, from: 'load-0', text, at: 1 }];
  assertClean(await load(t, await chatServer({ history }), { protocol: 'chat' }));
});

test('chat: a mixed load has typing frames and high priority messages', async (t) => {
  const server = await chatServer();
  const options = { protocol: 'chat', mode: 'open', rate: 1000, pattern: 'mixed' };
  const result = await load(t, server, options);
  assertClean(result);
  assert.ok(result.typing_sent > 0);
  assert.equal(result.scheduled, result.sent + result.typing_sent);
  assert.equal(result.typing_delivered, result.typing_sent * 4);
  assert.ok(server.seen.priorities > 0);
});

test('chat: a message that is refused with an error is not expected any more', async (t) => {
  const server = await chatServer({ refuse: (_text, n) => n % 7 === 0 });
  const result = await load(t, server, { protocol: 'chat', mode: 'closed' });
  assertClean(result);
  assert.ok(server.seen.refused > 0);
  assert.equal(result.refused, server.seen.refused);
  assert.equal(result.errors, server.seen.refused);
  assert.match(result.first_error, /not now/);
  assert.equal(result.expected, (result.sent - result.refused) * 4);
});

test('socket.io: every message reaches every member of its room, pings are answered', async (t) => {
  const server = await socketIoServer({ pingInterval: 50, pingTimeout: 600_000 });
  let answered = 0;
  server.io.engine.on('connection', (socket) => socket.on('heartbeat', () => answered++));
  const result = await load(t, server, { protocol: 'socket.io', checkEvery: 1 });
  assertClean(result);
  assert.equal(result.expected, result.sent * 4);
  assert.equal(result.checked, result.delivered);
  assert.ok(answered > 0);
  // A server that gets no answer ends the connection; each ping is a frame beside the load's.
  assert.ok(result.other_frames > 0);
  assert.equal(result.frames, result.delivered + result.other_frames);
});

test('socket.io: an open loop with priorities', async (t) => {
  const options = { protocol: 'socket.io', mode: 'open', rate: 1000, pattern: 'mixed' };
  const result = await load(t, await socketIoServer(), options);
  assertClean(result);
  const { high, normal, low } = result.by_priority;
  assert.ok(high.sent > 0 && low.sent > high.sent && normal.sent > low.sent);
});

const open = { mode: 'open', rate: 200 };

/** Servers as they stand in guides, each with what the generator has to be told. */
const applications = {
  'a chat that sends to everyone': {
    serve(socket, io) {
      socket.emit('chat message', 'welcome');
      socket.on('chat message', (text) => io.emit('chat message', text));
    },
    options: { event: 'chat message' },
    receivers: 12,
  },
  'a chat that sends to the others, with other names and an object': {
    serve(socket) {
      socket.broadcast.emit('user joined', { n: 1 });
      socket.on('new message', (message) => {
        socket.broadcast.emit('message', { from: '#1', message: message.body.text });
      });
    },
    options: {
      ...open,
      ...{
        event: 'new message',
        reply: 'message',
        data: '{"body":{"text":"{text}"}}',
        to: 'others',
      },
    },
    receivers: 11,
  },
  'an echo that wants to know that it arrived': {
    serve(socket) {
      socket.on('ünï', (n, text) => socket.timeout(60_000).emit('ünï', n, text, () => {}));
    },
    options: { event: 'ünï', data: '7,"{text}"', to: 'sender', connections: 3 },
    receivers: 1,
  },
};

for (const [name, { serve, options, receivers }] of Object.entries(applications)) {
  test(`socket.io: ${name}`, async (t) => {
    const server = await socketIoApplication(serve);
    const result = await load(t, server, {
      protocol: 'socket.io',
      rooms: 1,
      checkEvery: 1,
      ...options,
    });
    assertClean(result);
    assert.equal(result.expected, result.sent * receivers);
    assert.equal(result.checked, result.delivered);
  });
}

test('socket.io: a server that has no such event delivers nothing', async (t) => {
  const server = await socketIoApplication(() => {});
  const options = { protocol: 'socket.io', connections: 2, rooms: 1, drain: 0.1 };
  const result = await load(t, server, options);
  assert.deepEqual([result.ok, result.delivered, result.lost], [false, 0, result.expected]);
});

test('a message that reaches another client is a fault', async (t) => {
  const server = await socketIoApplication((socket, io) => {
    socket.on('m', (text) => io.emit('m', text));
  });
  for (const to of ['others', 'sender']) {
    const options = { ...open, protocol: 'socket.io', rooms: 1, connections: 3, to };
    const result = await runLoad({ ...brief, port: server.port, ...options });
    assert.equal(result.ok, false);
    assert.equal(result.corrupt, to === 'others' ? result.sent : 2 * result.sent);
    assert.equal(result.delivered, result.expected);
  }
  server.close();
});
