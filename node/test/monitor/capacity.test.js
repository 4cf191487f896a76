/** The arithmetic of capacity: the figures of its source, its limits, and what a real server does. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { burst, capacity, monitor } from 'millrace/monitor';
import { block, refusal, sleep } from './block.js';

const tens = { syncMs: 10, asyncMs: 10 };

test('the worked figures: 30 ms, 50 requests a second, 30, 50 and 70 ms', () => {
  const { responseMs, perSecond } = capacity(tens);
  assert.deepEqual([responseMs, perSecond], [30, 50]);
  assert.deepEqual(burst(3, tens).oneByOne, [30, 50, 70]);
  assert.equal(burst(100, tens).oneByOne[99], 2010);
});

test('the wait takes nothing from the capacity', () => {
  const slow = capacity({ syncMs: 10, asyncMs: 5000, ratePerSecond: 25 });
  assert.deepEqual([slow.perSecond, slow.utilization], [50, 0.5]);
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

test('the largest burst within a deadline', () => {
  const largest = (deadlineMs, times = tens) => capacity({ ...times, deadlineMs }).largestBurst;
  assert.deepEqual(
    [29, 30, 49.9, 50, 500].map((deadlineMs) => largest(deadlineMs)),
    [0, 1, 1, 2, 24],
  );
  for (let n = 1; n < 200; n++) {
    const times = { syncMs: 0.1, asyncMs: 0.3 };
    const deadlineMs = burst(n, times).oneByOne.at(-1);
    assert.equal(largest(deadlineMs, times), n);
    assert.equal(largest(deadlineMs - 1e-6, times), n - 1);
  }
  assert.equal(capacity(tens).largestBurst, null);
});

test('utilization, and processes that a rate needs', () => {
  const at = (ratePerSecond, others) => capacity({ ...tens, ratePerSecond, ...others });
  assert.equal(at(50).utilization, 1);
  assert.equal(at(100).utilization, 2);
  assert.equal(at(100, { processes: 4 }).utilization, 0.5);
  assert.equal(capacity(tens).utilization, 0);
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
  refuses({ deadlineMs: 0 }, "'deadlineMs'");
  refuses({ deadlineMs: null }, "'deadlineMs'", 'null');
  for (const ratePerSecond of [-1, Number.NaN, null]) refuses({ ratePerSecond }, "'ratePerSecond'");
  refuses({ processes: 0 }, "'processes'");
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

test('Monitor.capacity() counts the requests of its span, and the loop time that they took', async (t) => {
  const watch = monitor();
  const { port } = await startServer(t, { syncMs: 5, asyncMs: 1 });
  const agent = new http.Agent({ keepAlive: true });
  t.after(() => {
    watch.stop();
    agent.destroy();
  });
  const get = async () => {
    const [response] = await once(http.get({ port, host: '127.0.0.1', agent }), 'response');
    response.resume();
    await once(response, 'end');
  };
  await get();
  watch.capacity({ requests: 1 });
  for (let i = 0; i < 10; i++) await get();
  const measured = watch.capacity({ requests: 10, asyncMs: 1, deadlineMs: 1e6 });
  // Each request has blocked for 10 ms; what the client and the machine add has no bound.
  assert.ok(measured.requestMs >= 10, JSON.stringify(measured));
  assert.equal(measured.syncMs, measured.requestMs / 2);
  const { syncMs } = measured;
  const computed = capacity({ syncMs, asyncMs: 1, deadlineMs: 1e6 });
  assert.equal(measured.perSecond, computed.perSecond);
  assert.ok(measured.perSecond <= 100);
  assert.ok(measured.ratePerSecond <= measured.perSecond);
  assert.equal(measured.responseMs, computed.responseMs);
  assert.equal(measured.largestBurst, computed.largestBurst);
  assert.ok(measured.utilization <= 1 && measured.utilization >= 100 / measured.spanMs);
  assert.ok(measured.processesNeeded === 1 || measured.processesNeeded === 2);
});

test('Monitor.capacity() takes the loop time from whoever has measured it, as a guard does', (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  const { requestMs, syncMs, perSecond, responseMs, largestBurst } = watch.capacity({
    requests: 40,
    busyMs: 1000,
    asyncMs: 15,
  });
  assert.deepEqual(
    [requestMs, syncMs, perSecond, responseMs, largestBurst],
    [25, 12.5, 40, 40, null],
  );
});

test('Monitor.capacity() computes what is measured also beyond the ranges of what is given', (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  const rare = watch.capacity({ requests: 1, busyMs: 2e7, deadlineMs: 3_600_000 });
  assert.deepEqual(
    [rare.requestMs, rare.syncMs, rare.responseMs, rare.perSecond, rare.largestBurst],
    [2e7, 1e7, 2e7, 5e-5, 0],
  );
  const { ratePerSecond, processesNeeded, spanMs } = watch.capacity({ requests: 1e12, busyMs: 1 });
  assert.equal(ratePerSecond, 1e15 / Math.max(spanMs, 1e-3));
  assert.ok(processesNeeded >= 1);
  for (const [name, value] of Object.entries({ asyncMs: -1, deadlineMs: 0, utilization: 2 })) {
    assert.throws(() => watch.capacity({ requests: 1, [name]: value }), refusal(`'${name}'`));
  }
});

test('Monitor.capacity() refuses bad values, and its span goes on', async (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  // What it slept before is not of the span.
  await sleep(200);
  watch.capacity({ requests: 1 });
  block(20);
  for (const requests of [0, -1, 1.5, Number.NaN, undefined]) {
    assert.throws(() => watch.capacity({ requests }), refusal("'requests'", 'an integer from 1'));
  }
  for (const busyMs of [0, -1, Number.NaN]) {
    assert.throws(() => watch.capacity({ requests: 1, busyMs }), refusal("'busyMs'"));
  }
  assert.throws(() => watch.capacity({ request: 1 }), refusal("'request'", "is 'requests' meant?"));
  assert.ok(watch.capacity({ requests: 1 }).requestMs >= 20);
});
