// Responses as members of rooms: what their clients read, whichever way it comes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import compression from 'compression';
import { Rooms } from 'millrace/ws';
import { Wire } from '../../dist/ws/wire.js';
import { EventReader, openStreams, wayNames } from './event-streams.js';
import { openHall, range, turn } from './hall.js';

/** A server whose streams all join the room `x`, and `count` of them. */
async function openRoom(t, { way = 'http', count = 1, options = {}, middleware, headers } = {}) {
  const rooms = new Rooms(options);
  const open = await openStreams(t, way, (response) => rooms.join(response, 'x'), middleware);
  const streams = [];
  for (const _ of range(count)) streams.push(await open.connect({ headers }));
  return { rooms, ...open, streams, stream: streams[0] };
}

const tricky = [
  'one',
  '',
  ' begins with a space',
  'two\nlines',
  'three\r\nlines\rhere',
  '\n\n',
  ': no comment',
  'data: no field\n\nid: 7',
  'grüße 🎉 \u2028 \0',
  'x'.repeat(70_000),
];
const asRead = (text) => text.replace(/\r\n|\r/g, '\n');

for (const way of wayNames) {
  describe(way, () => {
    test('a response joins as an event stream, and gets each message as it was published', async (t) => {
      const { rooms, streams } = await openRoom(t, { way, count: 3 });
      for (const { status, headers } of streams) {
        assert.equal(status, 200);
        assert.equal(headers['content-type'], 'text/event-stream');
        assert.equal(headers['cache-control'], 'no-store, no-transform');
        assert.equal(headers['x-accel-buffering'], 'no');
      }
      for (const text of tricky) rooms.publish('x', text);
      rooms.publish('x', 'with fields', { event: 'price', id: '17' });
      await turn();
      rooms.publish('x', Buffer.from([0, 255, 10, 13]));
      rooms.publish('x', Buffer.from('text\nin bytes'), { binary: false, id: '' });
      for (const { reader } of streams) {
        await reader.until(({ texts }) => texts.length === tricky.length + 3);
        const plain = tricky.map((text) => ({ event: '', id: '', data: asRead(text) }));
        assert.deepEqual(reader.events, [
          ...plain,
          { event: 'price', id: '17', data: 'with fields' },
          { event: '', id: '17', data: 'AP8KDQ==' },
          { event: '', id: '', data: 'text\nin bytes' },
        ]);
      }
    });

    test('a response that the application writes to and ends keeps its order', async (t) => {
      const { rooms, stream } = await openRoom(t, { way });
      const { response, reader } = stream;
      for (const n of range(50)) {
        rooms.publish('x', `room ${n}`);
        rooms.flush();
        response.write(`data: own ${n}\n\n`);
        if (n % 7 === 0) await turn();
      }
      rooms.end(response);
      rooms.publish('x', 'too late');
      await reader.until(({ isEnded }) => isEnded);
      assert.deepEqual(
        reader.texts,
        range(50).flatMap((n) => [`room ${n}`, `own ${n}`]),
      );
      assert.equal(rooms.size('x'), 0);
    });

    test('a stream leaves its rooms when its client goes, and when the application ends it', async (t) => {
      const { rooms, streams } = await openRoom(t, { way, count: 3 });
      assert.equal(rooms.stats().members, 3);
      const gone = once(streams[0].response, 'close');
      streams[0].abort();
      await gone;
      assert.equal(rooms.size('x'), 2);
      const ended = once(streams[1].response, 'close');
      streams[1].response.end();
      assert.equal(rooms.publish('x', 'last'), 2);
      await ended;
      assert.deepEqual([...rooms.members('x')], [streams[2].response]);
      await streams[2].reader.until(({ texts }) => texts.length === 1);
      assert.deepEqual(streams[1].reader.texts, []);
      assert.equal(rooms.join(streams[1].response, 'x'), false);
      assert.equal(rooms.stats().members, 1);
    });

    test('one that takes nothing is cut off beyond maxPending, and harms nobody', async (t) => {
      const told = [];
      const options = { maxPending: 200_000, onSlow: (info) => told.push(info) };
      const { rooms, streams } = await openRoom(t, { way, count: 2, options });
      const [slow, fast] = streams;
      slow.body.pause();
      slow.body.off('data', slow.body.listeners('data')[0]);
      const text = 'x'.repeat(20_000);
      let published = 0;
      let most = 0;
      while (told.length === 0) {
        rooms.publish('x', text);
        published++;
        await turn();
        most = Math.max(most, slow.response.writableLength);
        await fast.reader.until(({ texts }) => texts.length === published);
      }
      assert.ok(most <= 300_000, `${most} bytes wait in the response`);
      const [{ socket, action, pendingBytes }] = told;
      assert.equal(socket, slow.response);
      assert.equal(action, 'closed');
      assert.ok(pendingBytes > 200_000 && pendingBytes < 300_000, `${pendingBytes}`);
      if (rooms.size('x') > 1) await once(slow.response, 'close');
      assert.deepEqual([...rooms.members('x')], [fast.response]);
      assert.equal(rooms.stats().slowClosed, 1);
    });

    test('one that takes nothing for a while gets the latest message of each key', async (t) => {
      const { rooms, streams } = await openRoom(t, { way, count: 2 });
      const [slow, fast] = streams;
      slow.body.pause();
      const [listener] = slow.body.listeners('data');
      slow.body.off('data', listener);
      let filled = 0;
      while (rooms.stats().slowSuperseded < 300) {
        for (const key of ['a', 'b']) {
          rooms.publish('x', `${key} ${filled} ${'x'.repeat(20_000)}`, { key });
        }
        filled++;
        await fast.reader.until(({ texts }) => texts.length === filled * 2);
      }
      slow.body.on('data', listener);
      slow.body.resume();
      const isLast = (text, key) => text?.startsWith(`${key} ${filled - 1} `) ?? false;
      await slow.reader.until(
        ({ texts }) => isLast(texts.at(-1), 'b') && isLast(texts.at(-2), 'a'),
      );
      assert.equal(slow.reader.texts.length, 2 * filled - rooms.stats().slowSuperseded);
    });

    test('a HEAD request is answered at once, and joins nothing', async (t) => {
      const joined = [];
      const rooms = new Rooms();
      const { connect: ask } = await openStreams(t, way, (response) => {
        joined.push(rooms.join(response, 'x'));
      });
      const { headers, reader } = await ask({ method: 'HEAD' });
      await reader.until(({ isEnded }) => isEnded);
      assert.equal(headers['content-type'], 'text/event-stream');
      assert.deepEqual(joined, [false]);
      assert.equal(rooms.stats().members, 0);
    });

    test('a comment follows each interval of keepAlive, and readers do not see it', async (t) => {
      const { rooms, stream } = await openRoom(t, { way, options: { keepAlive: 5 } });
      const { reader } = stream;
      await reader.until(({ comments }) => comments >= 3);
      rooms.publish('x', 'still there');
      await reader.until(({ texts }) => texts.length > 0);
      assert.deepEqual(reader.events, [{ event: '', id: '', data: 'still there' }]);
      assert.equal(rooms.stats().deliveries, 1);
      rooms.close();
    });
  });
}

describe('a response', () => {
  test('keeps the headers that the application has set or sent', async (t) => {
    const rooms = new Rooms();
    const { connect: ask } = await openStreams(t, 'http', (response, { headers }) => {
      response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
      response.setHeader('X-Own', 'yes');
      if (headers.early !== undefined) response.writeHead(201);
      rooms.join(response, 'x');
    });
    const { headers } = await ask();
    assert.equal(headers['content-type'], 'text/event-stream; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-store, no-transform');
    const early = await ask({ headers: { early: '1' } });
    assert.deepEqual([early.status, early.headers['cache-control']], [201, undefined]);
    assert.equal(rooms.publish('x', 'to both'), 2);
    await early.reader.until(({ texts }) => texts.length === 1);
  });

  test('without a body by its status ends, and joins nothing', async (t) => {
    const rooms = new Rooms();
    const joined = [];
    const { connect: ask } = await openStreams(t, 'http', (response) => {
      response.statusCode = 204;
      joined.push(rooms.join(response, 'x'));
    });
    const { status, reader } = await ask();
    await reader.until(({ isEnded }) => isEnded);
    assert.deepEqual([status, joined, rooms.size('x')], [204, [false], 0]);
  });

  test('in a pipeline gets its events when the one before it has ended', async (t) => {
    const rooms = new Rooms();
    const responses = [];
    const { port } = await openStreams(t, 'http', (response) => {
      responses.push(response);
      rooms.join(response, `${responses.length}`);
    });
    const client = connect(port, '127.0.0.1');
    t.after(() => client.destroy());
    let text = '';
    client.setEncoding('utf8').on('data', (more) => {
      text += more;
    });
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
    while (responses.length < 2) await once(client, 'data');
    rooms.publish('2', 'second');
    await turn();
    rooms.publish('1', 'first');
    await turn();
    rooms.end(responses[0]);
    rooms.publish('2', 'third');
    const lines = () => text.split('\n').filter((line) => line.startsWith('data: '));
    while (lines().length < 3) await once(client, 'data');
    rooms.publish('2', 'fourth');
    while (lines().length < 4) await once(client, 'data');
    assert.deepEqual(lines(), ['data: first', 'data: second', 'data: third', 'data: fourth']);
  });

  test('leaves its connection usable when it has ended', async (t) => {
    const { Agent } = await import('node:http');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const rooms = new Rooms();
    const sockets = new Set();
    const { connect: ask } = await openStreams(t, 'http', (response) => {
      sockets.add(response.socket);
      rooms.join(response, 'x');
    });
    for (const n of range(3)) {
      const { response, reader } = await ask({ agent });
      rooms.publish('x', `${n}`);
      rooms.end(response);
      await reader.until(({ isEnded }) => isEnded);
      assert.deepEqual(reader.texts, [`${n}`]);
    }
    assert.equal(sockets.size, 1);
  });

  test('that a compression writes is flushed with each turn, and bounded', async (t) => {
    const told = [];
    const rooms = new Rooms({ maxPending: 100_000, onSlow: (info) => told.push(info) });
    const { connect: ask } = await openStreams(
      t,
      'http',
      (response) => {
        response.setHeader('cache-control', 'no-store');
        rooms.join(response, 'x');
      },
      compression({ threshold: 0, filter: () => true }),
    );
    const headers = { 'accept-encoding': 'gzip' };
    const stream = await ask({ headers });
    assert.equal(stream.headers['content-encoding'], 'gzip');
    const { createGunzip } = await import('node:zlib');
    const reader = new EventReader();
    stream.body
      .removeAllListeners('data')
      .pipe(createGunzip())
      .on('data', (bytes) => reader.read(bytes));
    for (const n of range(20)) {
      rooms.publish('x', `${n}`);
      await reader.until(({ texts }) => texts.length === n + 1);
    }
    assert.deepEqual(reader.texts, range(20).map(String));
    const slow = await ask({ headers });
    slow.body.removeAllListeners('data').pause();
    const { randomBytes } = await import('node:crypto');
    while (told.length === 0) {
      rooms.send(slow.response, randomBytes(20_000));
      await turn();
    }
    assert.deepEqual([told[0].action, told[0].socket], ['closed', slow.response]);
  });

  test('is not written past when somebody has replaced its write', async (t) => {
    const { rooms, stream } = await openRoom(t);
    const { response, reader } = stream;
    const seen = [];
    const { write } = response;
    response.write = function (chunk, ...rest) {
      seen.push(`${chunk}`);
      return write.call(this, chunk, ...rest);
    };
    rooms.publish('x', 'one');
    rooms.publish('x', 'two');
    await reader.until(({ texts }) => texts.length === 2);
    assert.deepEqual(seen, ['data: one\n\ndata: two\n\n']);
  });

  test('whose write throws is destroyed, and harms nobody', async (t) => {
    const { rooms, streams } = await openRoom(t, { count: 2 });
    const errors = [];
    streams[0].response.on('error', (error) => errors.push(error.message));
    streams[0].response.write = () => {
      throw new Error('broken');
    };
    const closed = new Promise((resolve) => streams[0].response.on('close', resolve));
    rooms.publish('x', 'to the other');
    await streams[1].reader.until(({ texts }) => texts.length === 1);
    await closed;
    assert.deepEqual([errors, rooms.size('x')], [['broken'], 1]);
  });

  test('that is a mock or another object is refused by name', () => {
    const rooms = new Rooms();
    for (const wrong of [null, {}, { write() {}, end() {} }, 'response']) {
      assert.throws(() => rooms.join(wrong, 'x'), {
        code: 'MILLRACE_E_INVALID_ARGUMENT',
        message: /response of a request/,
      });
    }
  });
});

test('a field with a line break is refused, and nobody gets its message', async (t) => {
  const { rooms, stream } = await openRoom(t);
  for (const wrong of ['a\nb', 'a\rb', 'a\0b', 7, null]) {
    for (const name of ['event', 'id']) {
      assert.throws(() => rooms.publish('x', 'never', { [name]: wrong }), {
        code: 'MILLRACE_E_INVALID_OPTION',
        message: new RegExp(name),
      });
    }
  }
  rooms.publish('x', 'once');
  await stream.reader.until(({ texts }) => texts.length > 0);
  assert.deepEqual(stream.reader.texts, ['once']);
});

test('sockets and streams of one room get the same, each in its form', async (t) => {
  const { rooms, stream } = await openRoom(t);
  const hall = await openHall(t);
  const peer = await hall.connect();
  rooms.join(peer.server, 'x');
  assert.equal(rooms.publish('x', 'text', { event: 'e', id: '1' }), 2);
  assert.equal(rooms.publish('x', Buffer.from('bytes'), { except: peer.server }), 1);
  rooms.publish('x', Buffer.from('bytes'), { except: stream.response });
  assert.deepEqual(await peer.take(), ['text', Buffer.from('bytes')]);
  await stream.reader.until(({ texts }) => texts.length === 2);
  assert.deepEqual(stream.reader.texts, ['text', Buffer.from('bytes').toString('base64')]);
});

test('responses that wait behind another one leave with their connection', async (t) => {
  const { rooms, port } = await openRoom(t, { count: 0 });
  const client = connect(port, '127.0.0.1');
  for (const path of ['/a', '/b', '/c']) {
    client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  }
  while (rooms.size('x') < 3) await turn();
  client.destroy();
  while (rooms.size('x') > 0) await turn();
  assert.equal(rooms.stats().members, 0);
});

test('a response that waits behind another one is cut off like any', async (t) => {
  const { rooms, port } = await openRoom(t, { count: 0, options: { maxPending: 100_000 } });
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  for (const path of ['/a', '/b']) client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  while (rooms.size('x') < 2) await turn();
  client.resume();
  while (rooms.stats().slowClosed === 0) {
    rooms.publish('x', 'x'.repeat(10_000));
    await turn();
  }
  while (rooms.size('x') > 1) await turn();
});

test('messages that wait for a stream leave after close() of the rooms', async (t) => {
  const { rooms, stream } = await openRoom(t, { options: { policy: 'fixed', maxDelay: 60_000 } });
  rooms.publish('x', 'queued');
  rooms.close();
  await stream.reader.until(({ texts }) => texts.length === 1);
  stream.response.write('data: own\n\n');
  await stream.reader.until(({ texts }) => texts.length === 2);
  assert.equal(rooms.join(stream.response, 'x'), false);
});

/** Prints each event that it gets, and that it has opened, as a line of JSON. */
const sourceProgram = `
  const source = new EventSource(process.argv[1]);
  const say = (...line) => console.log(JSON.stringify(line));
  const take = ({ type, data, lastEventId }) => say(type, data, lastEventId);
  source.onopen = () => say('open');
  for (const type of ['message', 'price']) source.addEventListener(type, take);
  // Its timer for the next connection keeps no process alive.
  setInterval(() => {}, 60_000);
`;

test('EventSource reads them, and comes back with the last id', async (t) => {
  const rooms = new Rooms();
  const ids = [];
  const { port } = await openStreams(t, 'http', (response, { headers }) => {
    ids.push(headers['last-event-id']);
    rooms.join(response, 'x');
    response.write('retry: 1\n\n');
  });
  const url = `http://127.0.0.1:${port}/`;
  const source = spawn(
    process.execPath,
    ['--experimental-eventsource', '--input-type=module', '--eval', sourceProgram, url],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.after(() => source.kill());
  const lines = createInterface(source.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value);
  assert.deepEqual(await next(), ['open']);
  rooms.publish('x', 'a\nb', { id: '5' });
  rooms.publish('x', 'c', { event: 'price' });
  assert.deepEqual(await next(), ['message', 'a\nb', '5']);
  assert.deepEqual(await next(), ['price', 'c', '5']);
  for (const response of [...rooms.members('x')]) rooms.end(response);
  assert.deepEqual(await next(), ['open']);
  rooms.publish('x', 'd');
  assert.deepEqual(await next(), ['message', 'd', '5']);
  assert.deepEqual(ids, [undefined, '5']);
});

test('a message of another process with a field of two lines is malformed', () => {
  let here;
  const link = { check() {}, open() {}, close() {} };
  const across = {
    connect(given) {
      here = given;
      return link;
    },
  };
  const rooms = new Rooms({ across });
  const receive = (stream) => here.receive('x', Buffer.from('a'), false, 1, undefined, stream);
  assert.equal(receive({ event: 'a\nb', id: undefined }), 'malformed');
  assert.equal(receive({ event: undefined, id: 'a\rb' }), 'malformed');
  assert.equal(receive({ event: 'a', id: 'b' }), 'taken');
  rooms.close();
});

/** The writes of a socket from here on, each with its pieces as text. */
function watchWrites(socket) {
  const writes = [];
  const { _write, _writev } = socket;
  socket._write = function (chunk, ...rest) {
    writes.push([`${chunk}`]);
    return _write.call(this, chunk, ...rest);
  };
  socket._writev = function (chunks, done) {
    writes.push(chunks.map(({ chunk }) => `${chunk}`));
    return _writev.call(this, chunks, done);
  };
  return writes;
}

for (const [way, canBeNative] of [
  ['http', true],
  ['http, Connection: close', true],
  ['http/1.0', true],
  ['https', false],
]) {
  test(`a turn is one write of its socket, or none with the addon, by ${way}`, async (t) => {
    const { rooms, streams } = await openRoom(t, { way, count: 2 });
    await turn();
    const watched = streams.map(({ response }) => watchWrites(response.socket));
    rooms.publish('x', 'one');
    rooms.publish('x', 'two');
    for (const { reader } of streams) await reader.until(({ texts }) => texts.length === 2);
    const body = 'data: one\n\ndata: two\n\n';
    const bytes = way === 'http/1.0' ? body : `16\r\n${body}\r\n`;
    const isNative = canBeNative && rooms.stats().backend !== 'js';
    streams.forEach(({ response }, n) => {
      assert.deepEqual(watched[n], isNative ? [] : [[bytes]]);
      assert.equal(Wire.of(response.socket).sentBytes, isNative ? bytes.length : 0);
    });
  });
}

test('one that is written past gets its events in order with what the application writes', async (t) => {
  for (const way of ['http', 'https']) {
    const { rooms, stream } = await openRoom(t, { way });
    await turn();
    stream.response.write('data: before\n\n');
    rooms.publish('x', 'one');
    await stream.reader.until(({ texts }) => texts.length === 2);
    stream.response.socket.cork();
    rooms.publish('x', 'two');
    await turn();
    stream.response.write('data: after\n\n');
    stream.response.socket.uncork();
    await stream.reader.until(({ texts }) => texts.length === 4);
    assert.deepEqual(stream.reader.texts, ['before', 'one', 'two', 'after']);
  }
});
