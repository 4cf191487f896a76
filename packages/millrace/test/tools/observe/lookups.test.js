/** Look-ups of names: those that one look-up would have answered. */
import assert from 'node:assert/strict';
import dns, { lookup } from 'node:dns';
import { lookup as promised } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { observe } from 'millrace/observe';
import { stillClock } from '../../../../base/test/clocks.js';

function observed(t) {
  const observation = observe();
  t.after(() => observation.stop());
  return () => observation.report().lookups;
}

const asked = promisify((name, options, callback) =>
  dns.lookup(name, options, (error, ...answer) => callback(error, answer)),
);

test('equal look-ups that are under way could be one', async (t) => {
  const clock = stillClock(t);
  const read = observed(t);
  await Promise.all([1, 2, 3, 4, 5].map(() => asked('localhost', {})));
  assert.deepEqual(read(), { lookups: 5, questions: 1, joined: 4, repeated: 0, mostJoined: 5 });
  await asked('localhost', {});
  clock.pass(10_001);
  await asked('localhost', {});
  assert.deepEqual(read(), { lookups: 7, questions: 1, joined: 4, repeated: 1, mostJoined: 5 });
});

test('a look-up later than 50 ms after the first would be another one', async (t) => {
  const clock = stillClock(t);
  const read = observed(t);
  const first = asked('localhost', {});
  clock.pass(51);
  await Promise.all([first, asked('localhost', {})]);
  const { joined, repeated } = read();
  assert.deepEqual([joined, repeated], [0, 1]);
});

test('other options are other questions, and addresses are none', async (t) => {
  stillClock(t);
  const read = observed(t);
  await Promise.all([
    asked('localhost', { family: 4 }),
    asked('localhost', { all: true }),
    promised('localhost'),
    promised('localhost', 4),
    promised('127.0.0.1'),
    asked('127.0.0.1', {}),
  ]);
  assert.deepEqual(read(), { lookups: 4, questions: 4, joined: 0, repeated: 0, mostJoined: 0 });
});

test('look-ups of connections count', async (t) => {
  const read = observed(t);
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const socket = connect({ port: server.address().port, host: 'localhost', family: 4 });
  await once(socket.resume(), 'close');
  assert.equal(read().lookups, 1);
});

test('answers, errors and mistakes are as without observation', async () => {
  const before = dns.lookup;
  const observation = observe();
  assert.equal(lookup, dns.lookup);
  const answer = await promised('localhost', { family: 4 });
  assert.deepEqual(answer, { address: '127.0.0.1', family: 4 });
  assert.deepEqual(await asked('localhost', { family: 4 }), ['127.0.0.1', 4]);
  assert.deepEqual(await promisify(dns.lookup)('localhost', 4), answer);
  // No name server is asked for a name with so long a part.
  await assert.rejects(promised(`${'x'.repeat(64)}.invalid.`), { syscall: 'getaddrinfo' });
  assert.throws(() => dns.lookup('localhost', { family: 5 }, () => {}), {
    code: 'ERR_INVALID_ARG_VALUE',
  });
  observation.stop();
  assert.equal(dns.lookup, before);
  assert.equal(lookup, before);
});
