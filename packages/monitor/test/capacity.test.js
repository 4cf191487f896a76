/** The arithmetic of capacity: the figures of its source, its limits, and what a real server does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { burst, capacity } from '@millrace/monitor';
import { block, refusal } from './block.js';

const tens = { syncMs: 10, asyncMs: 10 };

test('the worked figures: 30 ms, 50 requests a second, 30, 50 and 70 ms', () => {
  const { responseMs, perSecond } = capacity(tens);
  assert.deepEqual([responseMs, perSecond], [30, 50]);
  assert.deepEqual(burst(3, tens).oneByOne, [30, 50, 70]);
  assert.equal(burst(100, tens).oneByOne[99], 2010);
});

test('the wait takes nothing from the capacity', () => {
  const { perSecond, processesNeeded } = capacity({ syncMs: 10, asyncMs: 5000, ratePerSecond: 25 });
  assert.deepEqual([perSecond, processesNeeded], [50, 1]);
});

/** Parts run in the order in which they can: first parts at once, each second part after its wait. */
function simulate(requests, { syncMs, asyncMs }) {
  let clock = requests * syncMs;
  return Array.from({ length: requests }, (_, i) => {
    clock = Math.max(clock, (i + 1) * syncMs + asyncMs) + syncMs;
    return clock;
  });
}

test('a burst on a loop: 40, 50 and 60 ms, as a simulation says', () => {
  assert.deepEqual(burst(3, tens).loop, [40, 50, 60]);
  assert.deepEqual(burst(3, { syncMs: 10, asyncMs: 100 }).loop, [120, 130, 140]);
  for (const requests of [1, 2, 3, 10, 57]) {
    for (const asyncMs of [0, 1, 10, 25, 90, 1000]) {
      const times = { syncMs: 8, asyncMs };
      const { loop, oneByOne } = burst(requests, times);
      assert.deepEqual(loop, simulate(requests, times));
      // The other one is on the safe side for the last one, and exact for one alone.
      assert.ok(loop.at(-1) <= oneByOne.at(-1));
    }
  }
  assert.equal(burst(1, tens).loop[0], capacity(tens).responseMs);
});

test('processes that a rate needs', () => {
  const at = (ratePerSecond, others) => capacity({ ...tens, ratePerSecond, ...others });
  assert.equal(capacity(tens).processesNeeded, 1);
  assert.equal(at(0).processesNeeded, 1);
  assert.equal(at(35).processesNeeded, 1);
  assert.equal(at(36).processesNeeded, 2);
  assert.equal(at(100, { utilization: 1 }).processesNeeded, 2);
  // 3 as arithmetic has it, and a little more as the machine does.
  assert.equal(at(1500, { syncMs: 0.7, utilization: 0.7 }).processesNeeded, 3);
});

test('bad values are refused with their range', () => {
  const refuses = (values, ...words) =>
    assert.throws(() => capacity({ ...tens, ...values }), refusal(...words));
  for (const syncMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1', undefined, null]) {
    const words = ["'syncMs'", 'a number above 0, up to 3600000'];
    refuses({ syncMs }, ...words);
    assert.throws(() => burst(1, { syncMs }), refusal(...words));
  }
  for (const asyncMs of [-1, Number.NaN, null]) {
    const words = ["'asyncMs'", 'a number from 0 to 3600000'];
    refuses({ asyncMs }, ...words);
    assert.throws(() => burst(1, { syncMs: 1, asyncMs }), refusal(...words));
  }
  for (const requests of [0, -1, 1.5, Number.NaN, undefined, 1_000_001]) {
    const words = ["'requests'", 'an integer from 1 to 1000000'];
    assert.throws(() => burst(requests, tens), refusal(...words));
  }
  for (const ratePerSecond of [-1, Number.NaN, null]) refuses({ ratePerSecond }, "'ratePerSecond'");
  refuses({ utilization: 1.1 }, "'utilization'", 'above 0, up to 1');
  assert.throws(() => capacity({ sync: 1 }), refusal("'sync'", "is 'syncMs' meant?", 'capacity()'));
  assert.throws(() => burst(1, { sync: 1 }), refusal("'sync'", "is 'syncMs' meant?", 'burst()'));
  assert.throws(() => capacity(10), refusal('must be an object', '10'));
});

/** A server of two synchronous parts and a wait, with what ran in which order. */
async function startServer(t, { syncMs, asyncMs }) {
  const parts = [];
  const server = http.createServer(({ url }, res) => {
    parts.push(`first ${url}`);
    block(syncMs);
    setTimeout(() => {
      parts.push(`second ${url}`);
      block(syncMs);
      res.end();
    }, asyncMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { parts, port: server.address().port };
}

test('a real server does the parts of a burst in the order that burst() says for a loop', async (t) => {
  const { parts, port } = await startServer(t, { syncMs: 10, asyncMs: 10 });
  const sockets = [];
  for (const name of ['a', 'b', 'c']) {
    const socket = connect(port, '127.0.0.1');
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write(`GET /warm-${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'data');
    sockets.push(socket);
  }
  parts.length = 0;
  const answered = [];
  const answers = sockets.map((socket, i) => once(socket, 'data').then(() => answered.push(i)));
  for (const [i, socket] of sockets.entries()) {
    socket.write(`GET /${i} HTTP/1.1\r\nHost: x\r\n\r\n`);
  }
  await Promise.all(answers);
  // Each to its end before the next one begins would be: first 0, second 0, first 1, …
  assert.deepEqual(
    parts,
    ['first', 'second'].flatMap((part) => ['/0', '/1', '/2'].map((url) => `${part} ${url}`)),
  );
  assert.deepEqual(answered, [0, 1, 2]);
});
