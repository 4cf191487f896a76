import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http from 'node:http';
import test from 'node:test';
import { startServer } from '../../run/server.js';
import { send as requests } from '../loads/requests.js';
import { cleanupFor, SERVER } from './support.js';

async function start(t) {
  const cleanup = cleanupFor(t);
  const server = await startServer({ name: 'test', command: [process.execPath, SERVER], cleanup });
  const { url } = server;
  return (wanted, more) => requests({ url, requests: wanted, timeoutS: 600, ...more });
}

test('requests do not wait for the answers to those before them', async (t) => {
  const send = await start(t);
  // The first would never be answered if the second waited for it.
  const [held, release] = await send([
    { name: 'held', path: '/hold' },
    { name: 'release', path: '/release', at: 100 },
  ]);
  assert.deepEqual(held.json, { value: 1 });
  assert.deepEqual(release.json, { value: 1 });
  assert.ok(held.endMs >= 100 && held.sentMs < release.sentMs);
});

test('latency counts from when a request was due, in the order of those times', async (t) => {
  const send = await start(t);
  const answers = await send([
    { name: 'late', path: '/one', at: 20 },
    { name: 'many', path: '/one', rate: 500, seconds: 0.02 },
  ]);
  assert.deepEqual(
    answers.map(({ request, dueMs }) => [request.name, dueMs]),
    [...Array.from({ length: 10 }, (_, i) => ['many', i * 2]), ['late', 20]],
  );
  for (const { dueMs, sentMs, endMs, latencyMs } of answers) {
    assert.ok(dueMs <= sentMs && sentMs <= endMs, `${dueMs} ${sentMs} ${endMs}`);
    assert.equal(latencyMs, endMs - dueMs);
  }
});

test('an answer is kept by status, size and the hash of what must be the same', async (t) => {
  const send = await start(t);
  const payload = ({ value }) => value;
  const [one, fast, two, gone] = await send([
    { name: 'one', path: '/one', payload },
    { name: 'fast', path: '/one-fast', at: 1, payload },
    { name: 'two', path: '/two', at: 2, payload },
    { name: 'gone', path: '/gone', at: 3 },
  ]);
  assert.equal(one.status, 200);
  assert.equal(one.bytes, JSON.stringify({ value: 1, isFast: 0 }).length);
  assert.equal(one.hash, fast.hash);
  assert.notEqual(one.hash, two.hash);
  assert.equal(gone.status, 404);
  const [whole, otherWhole] = await send([
    { name: 'one', path: '/one' },
    { name: 'fast', path: '/one-fast', at: 1 },
  ]);
  assert.notEqual(whole.hash, otherWhole.hash);
});

test('answers that are wrong, no JSON or missing are reported', async (t) => {
  const send = await start(t);
  const errors = async (request) => (await send([{ name: 'x', ...request }]))[0].error;
  assert.equal(await errors({ path: '/two', check: ({ value }) => value === 2 }), null);
  assert.equal(await errors({ path: '/two', check: ({ value }) => value === 1 }), 'it is wrong');
  assert.equal(await errors({ path: '/text', payload: (json) => json }), 'it is not JSON');
  assert.match(await errors({ path: '/two', payload: (json) => json.a.b }), /cannot be read/);
  assert.equal(await errors({ path: '/text' }), null);
  assert.equal(await errors({ path: '/die' }), 'ECONNRESET');
});

/** Stops the clock; it goes on by 300 ms when so many answers have come. */
function clockOfAnswers(t, count) {
  // A whole number, so that 300 ms later is not a part of a ms too early, for ever.
  let nowMs = Math.ceil(performance.now());
  let left = count;
  const take = () => {
    left -= 1;
    if (left === 0) nowMs += 300;
  };
  const { mock } = t.mock.method(performance, 'now', () => nowMs);
  subscribe('http.client.response.finish', take);
  const stop = () => {
    unsubscribe('http.client.response.finish', take);
    mock.restore();
  };
  t.after(stop);
  return stop;
}

test('a connection that the server has given up while it was idle is no failure', async (t) => {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.socket);
    const times = asked.filter((socket) => socket === request.socket).length;
    if (request.url === '/reset' || times > 1 || (request.url === '/never' && asked.length > 2))
      request.socket.destroy();
    else response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const send = (...wanted) => requests({ url, requests: wanted, timeoutS: 600 });
  // The second finds the connection of the first.
  let stop = clockOfAnswers(t, 1);
  const answers = await send({ name: 'first', path: '/' }, { name: 'second', path: '/', at: 300 });
  assert.deepEqual(
    answers.map(({ status, error, isResent }) => [status, error, isResent]),
    [
      [200, null, false],
      [200, null, true],
    ],
  );
  stop();
  // On a new connection there is no excuse, and no other attempt.
  asked.length = 0;
  stop = clockOfAnswers(t, 2);
  const first = { name: 'first', path: '/' };
  const [, , never] = await send(first, first, { name: 'never', path: '/never', at: 300 });
  assert.deepEqual([never.error, never.isResent, asked.length], ['ECONNRESET', true, 4]);
  stop();
  const [reset] = await send({ name: 'reset', path: '/reset' });
  assert.equal(reset.error, 'ECONNRESET');
});

test('the CPU time of a request is asked for at both of its ends', async (t) => {
  const send = await start(t);
  let reads = 0;
  const cpuUs = () => 1000 * (++reads) ** 2;
  const [timed, plain] = await send(
    [
      { name: 'timed', path: '/one', timed: true },
      { name: 'plain', path: '/one', at: 50 },
    ],
    { cpuUs },
  );
  assert.equal(reads, 2);
  assert.equal(timed.cpuUs, 3000);
  assert.equal(plain.cpuUs, null);
});

test('an answer that does not come ends it', async (t) => {
  const send = await start(t);
  await assert.rejects(send([{ name: 'held', path: '/hold' }], { timeoutS: 0.05 }), {
    code: 'MILLRACE_LAB_E_TIMEOUT',
  });
});

test('it ends on request, while it waits and before it begins', async (t) => {
  const send = await start(t);
  const stop = new AbortController();
  const sending = send(
    [
      { name: 'first', path: '/one' },
      { name: 'never', path: '/one', at: 1e8 },
    ],
    { signal: stop.signal },
  );
  stop.abort(new Error('enough'));
  await assert.rejects(sending, /enough/);
  await assert.rejects(send([{ name: 'x', path: '/one' }], { signal: stop.signal }), /enough/);
});

test('requests that are none are mistakes of the experiment', async () => {
  const mistakes = [
    [],
    [{ name: 'x' }],
    [{ path: '/one' }],
    [{ name: 'x', path: 'http://example.org/' }],
    [{ name: 'x', path: '/one', rate: 5 }],
    [{ name: 'x', path: '/one', at: -1 }],
    [{ name: 'x', path: '/one', at: Number.NaN }],
  ];
  for (const wanted of mistakes) {
    await assert.rejects(requests({ url: 'http://127.0.0.1:1', requests: wanted, timeoutS: 1 }), {
      code: 'MILLRACE_LAB_E_EXPERIMENT',
    });
  }
});
