import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder, until } from '../../../scripts/lib/program-tests.js';
import { openStorage } from '../storage/index.js';
import { ARMS, Client, request, runToEnd, startProcess } from './support.js';

async function storedIds(dataDir) {
  const storage = await openStorage(join(dataDir, 'chat.db'));
  const messages = await storage.history('lobby', null, 10_000);
  await storage.close();
  return new Map(messages.map((message) => [message.id, message.text]));
}

/** Sends `count` messages, keeps what was acknowledged: id → text. */
function sendMany(client, count) {
  const acked = new Map();
  client.ws.on('message', (data) => {
    const frame = JSON.parse(data);
    if (frame.t === 'ack') acked.set(frame.id, `text ${frame.ref}`);
  });
  for (let n = 0; n < count; n += 1) client.say('lobby', `text ${n}`, String(n));
  return acked;
}

for (const policy of ARMS) {
  describe(`process, ${policy}`, () => {
    test('every acknowledged message survives a kill -9', async (t) => {
      const dataDir = await temporaryFolder(t);
      const args = ['--policy', policy, '--data-dir', dataDir, '--flood-limit', '0'];
      const server = await startProcess(t, args);
      const ada = await Client.connect(t, server.url, { name: 'Ada' });
      await ada.join('lobby');
      const acked = sendMany(ada, 500);
      await until(() => acked.size >= 50);
      server.child.kill('SIGKILL');
      await server.exited;
      await ada.closed;
      const stored = await storedIds(dataDir);
      assert.ok(acked.size >= 50);
      for (const [id, text] of acked) assert.equal(stored.get(id), text);
    });

    for (const signal of ['SIGTERM', 'SIGINT']) {
      test(`${signal} commits and delivers what was taken, says goodbye and exits with 0`, async (t) => {
        const dataDir = await temporaryFolder(t);
        const args = ['--policy', policy, '--data-dir', dataDir, '--flood-limit', '0'];
        const server = await startProcess(t, [...args, '--stop-timeout', '600000']);
        const ada = await Client.connect(t, server.url, { name: 'Ada' });
        const bob = await Client.connect(t, server.url, { name: 'Bob' });
        await ada.join('lobby');
        await bob.join('lobby');
        const acked = sendMany(ada, 300);
        await until(() => acked.size > 0);
        server.child.kill(signal);
        assert.deepEqual(await server.exited, { code: 0, signal: null });
        for (const person of [ada, bob]) assert.equal((await person.closed).code, 1001);
        const stored = await storedIds(dataDir);
        const heard = bob.frames.filter((frame) => frame.t === 'msg');
        // What is stored was acknowledged to its sender and heard by the others, and nothing else was.
        assert.deepEqual([...acked], [...stored]);
        assert.deepEqual(new Map(heard.map((frame) => [frame.id, frame.text])), stored);
        assert.equal(bob.frames.filter((frame) => frame.kind === 'stop').length, 1);
        assert.equal(server.errors, '');
      });
    }

    test('without --data-dir nothing is left behind', async (t) => {
      const server = await startProcess(t, ['--policy', policy]);
      const pattern = /data in (\S+), removed at the end/;
      const [, dir] = await until(() => pattern.exec(server.output));
      const ada = await Client.connect(t, server.url, { name: 'Ada' });
      await ada.join('lobby');
      await access(join(dir, 'chat.db'));
      server.child.kill('SIGTERM');
      assert.equal((await server.exited).code, 0);
      await assert.rejects(access(dir), { code: 'ENOENT' });
    });
  });
}

test('while it drains it is not ready, and serves still', async (t) => {
  const dataDir = await temporaryFolder(t);
  const server = await startProcess(t, ['--drain-delay', '60000', '--data-dir', dataDir]);
  const status = async (path) => (await request(server.url, path)).status;
  assert.deepEqual([await status('/livez'), await status('/readyz')], [200, 200]);
  server.child.kill('SIGTERM');
  await until(async () => (await status('/readyz')) === 503);
  assert.deepEqual((await request(server.url, '/readyz')).body, { status: 'draining' });
  assert.equal(await status('/livez'), 200);
  const ada = await Client.connect(t, server.url, { name: 'Ada' });
  assert.deepEqual((await ada.join('lobby')).members, ['Ada']);
  server.child.kill('SIGTERM');
  assert.equal((await server.exited).code, 130);
});

test('a port that is taken: the next free one is used, and said', async (t) => {
  const first = await startProcess(t, ['--policy', 'direct']);
  const port = Number(new URL(first.url).port);
  const second = await startProcess(t, ['--policy', 'direct', '--port', String(port)]);
  await until(() => second.output.includes('is taken'));
  assert.match(second.output, new RegExp(`port ${port} is taken; this is the next free one`));
  assert.ok(Number(new URL(second.url).port) > port);
});

test('a broker that is away is named; the chat goes on without it', async (t) => {
  const server = await startProcess(t, ['--broker', 'nats://127.0.0.1:9']);
  await until(() => /alone for now: no broker answers at 127\.0\.0\.1:9;/.test(server.errors));
  const ada = await Client.connect(t, server.url, { name: 'Ada' });
  assert.deepEqual((await ada.join('lobby')).members, ['Ada']);
  server.child.kill('SIGTERM');
  assert.deepEqual(await server.exited, { code: 0, signal: null });
});

test('--quiet prints the address line only', async (t) => {
  const server = await startProcess(t, ['--policy', 'direct', '--quiet']);
  server.child.kill('SIGTERM');
  assert.equal((await server.exited).code, 0);
  assert.equal(server.output, `listening on ${server.url}\n`);
});

test('--help lists every option', async () => {
  const { code, output } = await runToEnd(['--help']);
  assert.equal(code, 0);
  for (const name of [
    'policy',
    'max-delay',
    'port',
    'host',
    'database',
    'broker',
    'digests',
    'data-dir',
    'flood-limit',
    'drain-delay',
    'stop-timeout',
    'quiet',
  ]) {
    assert.match(output, new RegExp(`--${name}\\b`));
  }
});

describe('a wrong option is answered with one sentence: its name, its value, what is allowed', () => {
  for (const [args, expected] of [
    [['--policy', 'magic'], '--policy is "magic"; allowed are direct, fixed, adaptive.'],
    [['--max-delay', '-1'], null],
    [['--max-delay', '1001'], '--max-delay is "1001"; allowed are whole numbers from 0 to 1000.'],
    [['--port', '65536'], '--port is "65536"; allowed are whole numbers from 0 to 65535.'],
    [['--port', '80a'], '--port is "80a"; allowed are whole numbers from 0 to 65535.'],
    [['--port'], '--port has no value; write --port VALUE.'],
    [
      ['--flood-limit', 'lots'],
      '--flood-limit is "lots"; allowed are whole numbers from 0 to 100000.',
    ],
    [
      ['--drain-delay', '60001'],
      '--drain-delay is "60001"; allowed are whole numbers from 0 to 60000.',
    ],
    [
      ['--stop-timeout', '99'],
      '--stop-timeout is "99"; allowed are whole numbers from 100 to 600000.',
    ],
    [['--host', ''], '--host is ""; allowed is any text that is not empty.'],
    [
      ['--database', 'mysql://u:secret@h/d'],
      '--database has the scheme "mysql"; allowed are a path and postgres:// URLs.',
    ],
    [
      ['--broker', 'http://secret@host'],
      '--broker is no URL of a broker; allowed are nats:// and tls:// URLs.',
    ],
    [
      ['--broker', 'nats://localhost', '--policy', 'direct'],
      '--broker is for --policy fixed and adaptive; direct knows no other servers.',
    ],
    [
      ['--digests', '--policy', 'direct'],
      '--digests is for --policy fixed and adaptive; direct has no worker threads.',
    ],
    [['--quiet=yes'], '--quiet is "yes"; it takes no value.'],
    [['--colour', 'red'], null],
    [['start'], null],
  ]) {
    test(args.join(' '), async () => {
      const { code, output, errors } = await runToEnd(args);
      assert.equal(code, 2);
      assert.equal(output, '');
      if (expected) assert.equal(errors, `${expected}\n`);
      else assert.match(errors, new RegExp(`^[^\\n]*${args[0]}[^\\n]*\\.\\n$`));
    });
  }
});

test('a database that cannot be opened ends the start with one sentence', async (t) => {
  const dir = await temporaryFolder(t);
  const args = [
    '--policy',
    'direct',
    '--port',
    '0',
    '--database',
    join(dir, 'no', 'such', 'chat.db'),
  ];
  const { code, errors } = await runToEnd(args);
  assert.equal(code, 1);
  assert.match(
    errors,
    /^The chat could not start: the database is not usable \(cannot be opened\).*\n$/,
  );
});
