// Faults in a random order while tasks are stored and run: none that the broker has acknowledged is lost. FUZZ_SECONDS lengthens it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomNumbers } from '../../../base/test/random.js';
import { unable } from '../nats.js';
import { proxy } from '../proxy.js';
import { eventually, openClient, setUp, tally } from './support.js';

const seconds = Math.max(3, Number(process.env.FUZZ_SECONDS ?? 0));

test('whatever is killed or cut off, no stored task is lost', {
  skip: unable,
  timeout: (seconds + 500) * 1000,
}, async (t) => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9));
  const pick = randomNumbers(seed);
  const { server, process: worker, runs } = await setUp(t);
  const ways = { client: await proxy(t, server.port), worker: await proxy(t, server.port) };
  const calls = openClient(t, { broker: ways.client.url, stream: 'tests', storeTimeout: 60_000 });
  const workers = [];
  const settings = { maxThreads: 1, ackWait: 1000 };
  const add = async () => workers.push(await worker(settings, { url: ways.worker.url }));
  await add();
  await add();
  const faults = {
    killWorker: async () => {
      await workers.splice(pick(workers.length), 1)[0].kill();
      await add();
    },
    endWorker: async () => {
      const [one] = workers.splice(pick(workers.length), 1);
      one.tell({ do: 'close', id: 0 });
      await add();
    },
    killBroker: async () => {
      await server.kill();
      await sleep(pick(300));
      await server.start();
    },
    pauseBroker: async () => {
      server.pause();
      await sleep(pick(500));
      server.resume();
    },
    cut: async () => {
      const way = ways[pick(2) === 0 ? 'client' : 'worker'];
      way.cut();
      await sleep(pick(1200));
      way.heal();
    },
  };
  const log = [];
  const results = [];
  let next = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    for (let n = pick(40); n > 0; n--) {
      const id = pick(4) === 0 ? { id: `task ${next}` } : {};
      const call =
        pick(2) === 0
          ? calls.run(next, { name: 'work', ...id })
          : calls.enqueue(next, { name: 'work', ...id });
      results.push(call);
      next++;
    }
    await sleep(pick(200));
    if (pick(3) > 0) continue;
    const names = Object.keys(faults);
    const name = names[pick(names.length)];
    log.push(name);
    await faults[name]();
  }
  const where = `seed ${seed}: ${log.join(', ')}`;
  const settled = await Promise.allSettled(results);
  // Only of one that was stored, done and forgotten before it was sent again nobody knows whose it was.
  const bad = settled.filter(({ status }) => status === 'rejected');
  assert.deepEqual(
    bad.map(({ reason }) => reason),
    [],
    where,
  );
  await eventually(() => tally(runs(), next).lost.length === 0);
  t.diagnostic(`${next} tasks, ${tally(runs(), next).again} ran twice; ${where}`);
});
