import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unable } from '../nats.js';
import { longMs } from '../patience.js';
import { proxy } from '../proxy.js';
import { eventually, repeat, setUp, tally } from './support.js';

const options = { skip: unable, timeout: 300_000 };
const work = { name: 'work' };

describe('faults of workers, clients, the broker and the ways between them', {
  concurrency: 4,
}, () => {
  test(
    'no task is lost when a worker is killed, and what it had runs elsewhere',
    options,
    async (t) => {
      const { open, process, runs } = await setUp(t);
      const calls = open();
      const workers = await Promise.all(repeat(2, () => process({ maxThreads: 1, ackWait: 3000 })));
      const results = repeat(400, (n) => calls.run(n, work));
      await eventually(() => runs().length > 50);
      await workers[0].kill();
      assert.deepEqual(
        await Promise.all(results),
        repeat(400, (n) => n),
      );
      const { lost, again } = tally(runs(), 400);
      assert.deepEqual(lost, []);
      t.diagnostic(`${again} of 400 tasks ran twice`);
    },
  );

  test(
    'no task that was stored is lost when the broker is killed and started again',
    options,
    async (t) => {
      const { server, client, process, runs } = await setUp(t);
      const sender = await client({ maxBatch: 4 });
      const worker = await process({ maxThreads: 1, ackWait: 3000 });
      const counted = { stored: new Set(), refused: 0 };
      const total = 400;
      const hears = (async () => {
        while (counted.stored.size + counted.refused < total) {
          const { stored, refused } = await sender.says(
            (each) => 'stored' in each || 'refused' in each,
          );
          if (stored !== undefined) counted.stored.add(stored);
          else if (refused !== undefined) counted.refused++;
        }
      })();
      await sender.ask({ do: 'enqueue', from: 0, count: 100, options: work });
      for (const round of [1, 2, 3]) {
        await eventually(() => runs().length > 20 * round);
        await server.kill();
        const asked = sender.ask({ do: 'enqueue', from: 100 * round, count: 100, options: work });
        await sleep(100);
        await server.start();
        await asked;
      }
      await hears;
      assert.equal(counted.refused, 0);
      await eventually(() => tally(runs(), total).lost.length === 0);
      t.diagnostic(`${tally(runs(), total).again} of ${total} tasks ran twice`);
      assert.ok((await worker.ask({ do: 'stats' })).link.reconnects >= 1);
    },
  );

  test(
    'a client that was away gets its results; one that was killed gives them up',
    options,
    async (t) => {
      const { server, client, worker, runs } = await setUp(t);
      const way = await proxy(t, server.port);
      const one = await worker({ maxThreads: 1, replyTimeout: longMs });
      const sender = await client({}, { url: way.url });
      await sender.ask({ do: 'run', from: 0, count: 100, options: work });
      await eventually(() => runs().length > 5);
      way.cut();
      await eventually(() => runs().length === 100);
      await sleep(300);
      assert.ok(one.stats().results.pending > 0);
      way.heal();
      assert.equal(await sender.ask({ do: 'results' }), 100);
      assert.equal(runs().length, 100);
      await eventually(() => one.stats().results.pending === 0);
      assert.equal(one.stats().results.givenUp, 0);
      const other = await worker({ maxThreads: 1, replyTimeout: 500 });
      await one.close();
      await sender.ask({ do: 'run', from: 100, count: 50, options: work });
      await eventually(() => runs().length > 105);
      await sender.kill();
      await eventually(() => other.stats().results.pending === 0 && other.stats().done === 50);
      assert.ok(other.stats().results.givenUp > 0);
      await eventually(async () => (await other.lag()).normal.unacknowledged === 0);
    },
  );

  test(
    'requests of a killed worker do not make its task look new, or often begun',
    options,
    async (t) => {
      const { open, process, worker, runs, folder } = await setUp(t);
      const file = join(folder, 'go');
      const first = await process({ maxThreads: 1, ackWait: 2000 });
      const call = open().run(file, { name: 'until' });
      await eventually(() => runs().length === 1);
      await first.kill();
      // The time for acknowledgement ends while nobody else asks for tasks.
      await sleep(4000);
      await worker({ maxThreads: 1, ackWait: 2000 });
      await eventually(() => runs().length === 2);
      writeFileSync(file, '');
      assert.equal(await call, 'done');
      assert.deepEqual(
        runs().map(({ delivery }) => delivery),
        [1, 2],
      );
    },
  );

  test('a worker that was cut off goes on, and nothing is lost or stuck', options, async (t) => {
    const { server, open, process, worker, runs } = await setUp(t);
    const way = await proxy(t, server.port);
    const cut = await process({ maxThreads: 1, ackWait: 1000 }, { url: way.url });
    const calls = open();
    const results = repeat(200, (n) => calls.run(n, work));
    await eventually(() => runs().length > 10);
    way.cut();
    const other = await worker({ maxThreads: 1, ackWait: 1000 });
    await sleep(1500);
    way.heal();
    assert.deepEqual(
      await Promise.all(results),
      repeat(200, (n) => n),
    );
    await eventually(async () => {
      const { normal, alone } = await other.lag();
      return [normal, alone].every(({ pending, unacknowledged }) => pending + unacknowledged === 0);
    });
    await eventually(async () => (await cut.ask({ do: 'stats' })).link.reconnects >= 1);
    const { lost, again } = tally(runs(), 200);
    assert.deepEqual(lost, []);
    t.diagnostic(`${again} of 200 tasks ran twice`);
  });

  test(
    'a task that runs for longer than the time for acknowledgement runs once',
    options,
    async (t) => {
      const { open, worker, runs } = await setUp(t);
      await Promise.all(repeat(2, () => worker({ ackWait: 6000 })));
      await open().run(15_000, { name: 'pause' });
      assert.equal(runs().length, 1);
    },
  );

  test('clocks that differ by an hour change nothing', options, async (t) => {
    const { open, process, runs } = await setUp(t);
    await Promise.all(
      ['3600000', '-3600000'].map((SKEW) => process({ maxThreads: 1 }, { env: { SKEW } })),
    );
    const calls = open();
    assert.deepEqual(
      await Promise.all(repeat(50, (n) => calls.run(n, work))),
      repeat(50, (n) => n),
    );
    assert.equal(await calls.run({ times: 2 }, { name: 'fail' }), 3);
    assert.equal(runs().length, 53);
  });

  test(
    'an ending worker finishes its running tasks, and gives back the rest at once',
    options,
    async (t) => {
      const { open, process, worker, runs, folder } = await setUp(t);
      const file = join(folder, 'go');
      const settings = { maxThreads: 1, batch: 20, closeTimeout: longMs };
      const first = await process(settings);
      const calls = open();
      const runs1 = calls.run(file, { name: 'until' });
      await eventually(() => runs().length === 1);
      const others = repeat(10, (n) => calls.run(n));
      await eventually(async () => (await first.ask({ do: 'stats' })).tasks === 11);
      first.tell({ do: 'close', id: 0 });
      const second = await worker({ maxThreads: 1 });
      // Long before the time for acknowledgement, and while the first still runs.
      assert.deepEqual(
        await Promise.all(others),
        repeat(10, (n) => n),
      );
      writeFileSync(file, '');
      assert.equal(await runs1, 'done');
      assert.ok(runs().every(({ delivery }) => delivery === 1));
      assert.equal(runs().length, 11);
      assert.equal(second.stats().suspects, 0);
    },
  );
});
