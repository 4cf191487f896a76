/** Sockets and processes that end in the turn of a send, and sockets that break: with install as without. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { install } from 'millrace/ws';
import { WebSocket } from 'ws';
import { installAutomatically } from '../../dist/ws/transparent.js';
import { openHall, range, stall, turn } from './hall.js';

const program = fileURLToPath(new URL('./install-program.js', import.meta.url));
const arms = ['plain', 'installed', 'transparent'];
const ways = { installed: install, transparent: installAutomatically };

async function setUp(t, count, arm = 'installed') {
  const hall = await openHall(t);
  const peers = await hall.connectMany(count);
  const installation = ways[arm]?.(WebSocket, {}) ?? null;
  t.after(() => installation?.uninstall());
  // What auto has installed gathers the frames of a turn when the turn before had several.
  for (const text of 'ab') for (const { server } of peers) server.send(text);
  for (const peer of peers) assert.deepEqual(await peer.take(), ['a', 'b']);
  return { peers, installation };
}

const ends = {
  'close()': (ws) => ws.close(4000, 'bye'),
  'terminate()': (ws) => ws.terminate(),
  'destroy() of its socket': (ws) => ws._socket.destroy(),
  'destroySoon() of its socket': (ws) => ws._socket.destroySoon(),
  'resetAndDestroy() of its socket': (ws) => ws._socket.resetAndDestroy(),
  'end() of its socket': (ws) => ws._socket.end(),
};

for (const [name, end] of Object.entries(ends)) {
  test(`${name} right after send: everything arrives`, async (t) => {
    for (const arm of arms) {
      await t.test(arm, async (t) => {
        const { peers } = await setUp(t, 3, arm);
        const [ending, ...others] = peers;
        const errors = [];
        for (const n of range(3)) {
          for (const { server } of peers)
            server.send(`${n}`, (error) => errors.push(error ?? null));
        }
        end(ending.server);
        for (const peer of others) assert.deepEqual(await peer.take(), ['0', '1', '2']);
        const code = await ending.closed;
        assert.equal(code, name === 'close()' ? 4000 : 1006);
        assert.deepEqual(ending.received, ['0', '1', '2']);
        assert.deepEqual(errors, Array(9).fill(null));
      });
    }
  });
}

test('raw bytes that are written to the socket come after what was sent before', async (t) => {
  const { peers } = await setUp(t, 1);
  const [{ server, socket }] = peers;
  server.send('1');
  socket.write(Buffer.from([0x81, 1, 0x32]));
  server.send('3');
  assert.deepEqual(await peers[0].take(), ['1', '2', '3']);
});

test('an answer to a peer that has ended its side still arrives', async (t) => {
  for (const arm of arms) {
    await t.test(arm, async (t) => {
      const { peers } = await setUp(t, 1, arm);
      const [{ server, client }] = peers;
      server.on('message', () => server.send('answer'));
      client.send('question');
      client._socket.end();
      await peers[0].closed;
      assert.deepEqual(peers[0].received, ['answer']);
    });
  }
});

test('a socket that is destroyed already calls back with an error', async (t) => {
  const { peers } = await setUp(t, 2);
  const [gone, other] = peers;
  gone.socket.destroy();
  assert.equal(gone.server.readyState, WebSocket.OPEN);
  const failed = new Promise((resolve) => gone.server.send('1', resolve));
  other.server.send('1');
  assert.ok((await failed) instanceof Error);
  assert.deepEqual(await other.take(), ['1']);
});

test('a peer that resets in the middle of a frame harms nobody else', async (t) => {
  const { peers } = await setUp(t, 4);
  const [broken, ...others] = peers;
  const closed = once(broken.server, 'close');
  let failures = 0;
  let calls = 0;
  for (const n of range(300)) {
    const text = `${n} ${'.'.repeat(3000)}`;
    for (const { server } of peers) {
      if (server.readyState !== WebSocket.OPEN) continue;
      server.send(text, (error) => {
        calls++;
        if (error) failures++;
        if (error) assert.equal(server, broken.server);
      });
    }
    if (n === 50) {
      // The first half of a frame, and no more.
      broken.client._socket.write(Buffer.from([0x82, 0xfe, 0x10, 0x00, 1]));
      broken.client._socket.resetAndDestroy();
    }
    await turn();
  }
  for (const peer of others) {
    await peer.until((received) => received.length === 300);
    assert.ok(peer.received.every((text, n) => text.startsWith(`${n} `)));
  }
  await closed;
  assert.ok(calls >= 900 + 50 && failures <= calls - 900);
});

test('a socket whose write throws ends alone, with the error', async (t) => {
  const { peers } = await setUp(t, 3);
  const [first, broken, last] = peers;
  for (const { server } of peers) server.send('0');
  await turn();
  const failure = new Error('injected: cannot write');
  broken.socket.write = () => {
    throw failure;
  };
  const failed = new Promise((resolve) => {
    for (const { server } of peers)
      server.send('1', server === broken.server ? resolve : undefined);
  });
  for (const peer of [first, last]) assert.deepEqual(await peer.take(), ['0', '1']);
  assert.equal(await failed, failure);
  await broken.closed;
});

test('a socket that does not read delays no other, and gets everything when it reads', async (t) => {
  const { peers } = await setUp(t, 3);
  const [slow, ...others] = peers;
  await stall(slow);
  const calls = [];
  for (const n of range(100)) {
    for (const { server } of peers) server.send(`${n}`);
    slow.server.send(`own ${n}`, () => calls.push(n));
    await turn();
  }
  for (const peer of others) assert.deepEqual(await peer.take(), range(100).map(String));
  assert.deepEqual(calls, []);
  slow.client.resume();
  await slow.until((received) => received.at(-1) === 'own 99');
  const texts = slow.received.filter((data) => typeof data === 'string');
  assert.deepEqual(
    texts,
    range(100).flatMap((n) => [`${n}`, `own ${n}`]),
  );
  await turn();
  assert.deepEqual(calls, range(100));
});

/** What a client receives from a process of its own that sends '0', '1', '2' in one turn and ends so. */
async function outcome(t, how, arm) {
  const child = fork(program, [how, arm], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  t.after(() => child.kill('SIGKILL'));
  const died = once(child, 'exit').then(() => assert.fail('the program has ended too early'));
  const [port] = await Promise.race([once(child, 'message'), died]);
  died.catch(() => {});
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const received = [];
  client.on('message', (data) => received.push(data.toString()));
  client.on('error', () => {});
  const closed = once(client, 'close');
  await once(client, 'open');
  client.send('go');
  await closed;
  // Those that only keep the loop busy do not count.
  return received.join('').replaceAll('.', '');
}

for (const how of [
  'process.exit()',
  'exit in a later tick',
  'an uncaught error',
  'an unhandled rejection',
  'a worker that exits',
  'exit while held',
  // It emits no 'exit'.
  'SIGKILL of itself',
]) {
  test(`${how}: nothing is lost`, async (t) => {
    for (const arm of arms) assert.equal(await outcome(t, how, arm), '012', arm);
  });
}

test('frames sent by listeners of exit leave as well', async (t) => {
  for (const arm of arms) assert.equal(await outcome(t, 'sends on exit', arm), '012345', arm);
});

test('each worker thread has its own, and its end harms no other', async () => {
  const workers = range(3).map(
    () => new Worker(program, { argv: ['serve', 'installed'], stdout: false }),
  );
  const ports = await Promise.all(
    workers.map(async (worker) => (await once(worker, 'message'))[0]),
  );
  const talk = async (port) => {
    const client = new WebSocket(`ws://127.0.0.1:${port}`);
    const received = [];
    await once(client, 'open');
    const done = new Promise((resolve) => {
      client.on('message', (data) => {
        if (received.push(data.toString()) === 300) resolve();
      });
    });
    for (const _ of range(100)) client.send('go');
    await done;
    client.terminate();
    return received.join('');
  };
  const expected = '012'.repeat(100);
  assert.deepEqual(await Promise.all(ports.map(talk)), Array(3).fill(expected));
  await workers[0].terminate();
  assert.deepEqual(await Promise.all(ports.slice(1).map(talk)), [expected, expected]);
  await Promise.all(workers.map((worker) => worker.terminate()));
});
