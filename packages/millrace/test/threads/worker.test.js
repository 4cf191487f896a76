/** Rings of workers, and workers that end while threads post. */
import assert from 'node:assert/strict';
import { on, once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { addon, codes, path, test, turns } from './helper.js';

async function start(what) {
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: { path, each: 0, busy: false, ...what },
  });
  // Kept from the beginning: two messages may come before somebody who awaits the first asks for the second.
  const messages = on(worker, 'message');
  const next = async () => (await messages.next()).value[0];
  return { worker, ring: addon.at(await next()), next };
}

test('a worker gets every record', async () => {
  const { worker, next } = await start({ each: 5000 });
  const exit = once(worker, 'exit');
  assert.equal(await next(), 10_000);
  assert.deepEqual(await exit, [0]);
});

test('a worker that is terminated: its threads are notified, and can be joined in closed()', async () => {
  const { worker, ring } = await start({});
  await taken(ring, 1000);
  await worker.terminate();
  // closed() joins the threads, and they end when a post is refused.
  const [, , code, calls] = addon.stats(ring);
  assert.deepEqual([-code, calls], [codes.closed, 1]);
});

test('a worker that is terminated in the middle of a callback', async () => {
  const { worker, ring, next } = await start({ busy: true });
  assert.equal(await next(), 'busy');
  await worker.terminate();
  const [, , code, calls] = addon.stats(ring);
  assert.deepEqual([-code, calls], [codes.closed, 1]);
});

test('threads that outlive their worker have the memory until they release it', async () => {
  const { worker, ring } = await start({ joinsLate: 1 });
  await taken(ring, 1000);
  await worker.terminate();
  assert.equal(addon.stats(ring)[3], 1);
  addon.join(ring);
  assert.equal(-addon.stats(ring)[2], codes.closed);
});

test('many workers, terminated at any moment', async () => {
  for (let round = 0; round < 5; round++) {
    const started = await Promise.all([1, 2, 3].map(() => start({})));
    await turns(round);
    await Promise.all(started.map(({ worker }) => worker.terminate()));
    for (const { ring } of started) assert.equal(addon.stats(ring)[3], 1);
  }
});

/** Waits until threads have posted so many. */
async function taken(ring, count) {
  while (addon.stats(ring)[0] < count) await turns(1);
}
