import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { until } from '../../../scripts/lib/program-tests.js';
import { summarize } from '../control/summary.js';
import { gap, pick, seeded } from '../load/random.js';
import { Slot } from '../load/slot.js';
import { Traffic } from '../load/traffic.js';
import { GOOD_MS, KINDS, MAX_RATE } from '../settings.js';
import { startGenerator } from './support.js';

const sum = (counts) => counts.reduce((total, count) => total + count, 0);

/** A server that counts what it is asked. */
async function listen(t, answer) {
  const asked = { total: 0, health: 0 };
  const server = createServer((request, response) => {
    if (request.url === '/health') asked.health += 1;
    else asked.total += 1;
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: server.address().port, asked, server };
}

/** Traffic of clients that give up only after the test would: its answers come when it wants them to. */
function startTraffic(t, port) {
  const traffic = new Traffic(port, 1, 600_000);
  t.after(() => traffic.end());
  return traffic;
}

test('the seed decides the arrivals: a Poisson process of the rate, and kinds by their shares', () => {
  const draw = (seed) => {
    const random = seeded(seed);
    return Array.from({ length: 20_000 }, () => [gap(random, 50), pick(random, [0.2, 0.5, 0.3])]);
  };
  const drawn = draw(7);
  assert.deepEqual(draw(7), drawn);
  assert.notDeepEqual(draw(8), drawn);

  const gaps = drawn.map(([each]) => each);
  const mean = sum(gaps) / gaps.length;
  assert.ok(Math.abs(mean * 50 - 1) < 0.03, `mean ${mean}`);
  // Of exponential gaps a share of 1/e is above the mean.
  const above = gaps.filter((each) => each > mean).length / gaps.length;
  assert.ok(Math.abs(above - Math.exp(-1)) < 0.02, `above ${above}`);
  for (const [kind, share] of [0.2, 0.5, 0.3].entries()) {
    const seen = drawn.filter(([, each]) => each === kind).length / drawn.length;
    assert.ok(Math.abs(seen - share) < 0.02, `kind ${kind}: ${seen}`);
  }
});

test('an answer counts as what it is, and as late beyond the limit', () => {
  const slot = new Slot();
  slot.count(0, { status: 200 }, GOOD_MS);
  slot.count(0, { status: 200 }, GOOD_MS + 1);
  slot.count(1, { status: 200, age: '0' }, 3);
  slot.count(1, { status: 503 }, 2);
  slot.count(2, { status: 404 }, 2);
  slot.count(2, undefined, 2000);
  assert.deepEqual(
    [slot.fresh, slot.late, slot.copies, slot.shed, slot.failed],
    [
      [1, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [0, 1, 0],
      [0, 0, 2],
    ],
  );
  assert.deepEqual(slot.latencies, [GOOD_MS, GOOD_MS + 1, 3]);
});

test('a summary is over all its slots; what was not measured is null', () => {
  const slots = [new Slot(), new Slot()];
  slots[0].seconds = 0.5;
  slots[1].seconds = 1.5;
  slots[0].offered = [20, 60, 40];
  for (let n = 1; n <= 100; n += 1) slots[n % 2].count(n <= 40 ? 0 : 1, { status: 200 }, n);
  for (let n = 0; n < 20; n += 1) slots[0].count(2, { status: 503 }, 1);
  slots[1].countHealth({ status: 200 }, 4);
  slots[1].countHealth({ status: 503 }, 9);
  const summary = summarize(slots, { capacity: 55 });
  assert.equal(summary.seconds, 2);
  assert.equal(summary.offered, 60);
  assert.equal(summary.good, 50);
  assert.equal(summary.shed, 10);
  assert.equal(summary.p50, 50);
  assert.equal(summary.p99, 99);
  assert.deepEqual(summary.success, [1, 1, 0]);
  assert.equal(summary.healthOk, 0.5);
  assert.equal(summary.healthP99, 9);
  assert.equal(summary.ofPossible, 50 / 55);
  assert.equal(summarize(slots, { capacity: 100 }).ofPossible, 50 / 60);
  // 10 checkouts a second need the server, of which it can do 4; 50 others may be copies.
  assert.equal(summarize(slots, { capacity: 4, keepsCopies: true }).ofPossible, 50 / 54);

  const nothing = summarize([new Slot()], { capacity: 40 });
  assert.deepEqual(
    [nothing.p50, nothing.p99, nothing.healthOk, nothing.healthP99, nothing.success],
    [null, null, null, null, [null, null, null]],
  );
});

test('arrivals do not wait for answers', async (t) => {
  const held = [];
  const { port } = await listen(t, (_, response) => held.push(response));
  const traffic = startTraffic(t, port);
  traffic.arrive(200);
  await until(() => held.length >= 30);
  const slot = traffic.takeSlot();
  assert.ok(sum(slot.offered) >= 25);
  assert.deepEqual(slot.latencies, []);
});

test('latency counts from when a request was due, not from when it was sent', async (t) => {
  const { port } = await listen(t, (_, response) => response.end());
  const traffic = startTraffic(t, port);
  traffic.arrive(50);
  // The generator itself is held up, before it has sent anything.
  for (const end = performance.now() + 1_000; performance.now() < end; );
  const { latencies } = await until(() => {
    const slot = traffic.takeSlot();
    return slot.latencies.length > 0 && slot;
  });
  assert.ok(Math.max(...latencies) > 900, `${latencies}`);
});

test('arrivals are requested and counted, by kind; /health on the side', async (t) => {
  const { port, asked } = await listen(t, (request, response) => {
    if (request.url === '/report') response.writeHead(503);
    else if (request.url === '/item') response.writeHead(200, { age: 1 });
    if (request.url === '/checkout') request.socket.destroy();
    else response.end('{}');
  });
  const traffic = startTraffic(t, port);
  await traffic.prepare(20);
  // /health was asked on the side as well.
  assert.ok(asked.health >= 20);
  assert.equal(asked.total, KINDS.length);
  traffic.arrive(400);
  const total = new Slot();
  await until(() => {
    const slot = traffic.takeSlot();
    for (const field of ['offered', 'copies', 'shed', 'failed', 'fresh', 'late']) {
      total[field] = total[field].map((count, kind) => count + slot[field][kind]);
    }
    total.health.ok += slot.health.ok;
    const isAsked = KINDS.every((_, kind) => total.offered[kind] >= 20) && total.health.ok > 0;
    return isAsked && total.failed[0] > 0 && total.copies[1] > 0 && total.shed[2] > 0;
  });
  assert.deepEqual(
    [total.fresh, total.shed[0], total.shed[1], total.failed[2]],
    [[0, 0, 0], 0, 0, 0],
  );
});

test('a closed loop has as many requests under way as there are clients', async (t) => {
  const held = [];
  const { port, asked } = await listen(t, (request, response) => {
    if (request.url === '/health') response.end();
    else held.push(response);
  });
  startTraffic(t, port).repeat(5);
  for (const before of [5, 10, 15]) {
    await until(() => asked.total >= before);
    assert.equal(held.length, 5);
    for (const response of held.splice(0)) response.end();
  }
});

test('the generator stops by itself when nobody tells it to go on', async (t) => {
  const { port, asked } = await listen(t, (_, response) => response.end());
  const generator = startGenerator(t);
  generator.drive({ port, rate: 100, leaseMs: 700 });
  // Told to go on until it has asked: on a busy machine that may take longer than a lease.
  const told = setInterval(() => generator.goOn(), 100);
  await once(generator, 'slot');
  clearInterval(told);
  await once(generator, 'idle');
  await until(async () => {
    const { total, health } = asked;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return asked.total === total && asked.health === health;
  });
  assert.ok(asked.total > 0);
});

test('the generator refuses more than its bounds', async (t) => {
  const generator = startGenerator(t);
  generator.drive({ port: 1, rate: MAX_RATE + 1 });
  assert.equal(await generator.exited, 1);
});
