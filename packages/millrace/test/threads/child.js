/** A process with a ring that ends in some way: `node child.js ADDON HOW`. It prints what its callback got. */
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

const [path, how] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(path);
const ofWorkers = "threads of a worker that alone had millrace's addon";
const { api } = how === ofWorkers ? {} : await import('millrace/threads');

let total = 0;
const open = (callback, onClosed) => addon.open(api(), callback, 16, 256, 0, 0, onClosed);
const count = (_, _first, records) => {
  total += records;
};

const ways = {
  /** Nothing but the ring keeps it alive. */
  'a ring that is closed later'() {
    const ring = open(count, () => console.log(total));
    addon.produce(ring, 2, 1000, 1);
    addon.release(ring);
  },
  'a ring that is not referenced'() {
    addon.unref(open(count));
    process.on('exit', () => console.log('exit'));
  },
  'a ring that is referenced again'() {
    const ring = open(count, () => console.log('closed'));
    addon.unref(ring);
    addon.ref(ring);
    addon.release(ring);
  },
  'a ring that stays open'() {
    open(count);
    setTimeout(() => console.log('alive'), 20).unref();
    setTimeout(() => process.exit(), 40).unref();
  },
  'a callback that throws'() {
    const ring = open(() => {
      throw new Error('thrown on purpose');
    });
    addon.post(ring, new Uint8Array(16));
  },
  'exit among posts'() {
    const ring = open((_, _first, records) => {
      total += records;
      if (total > 1000) process.exit(7);
    });
    addon.produce(ring, 4, 0, 1);
  },
  'exit among posts, in a later turn'() {
    const ring = open(count);
    addon.produce(ring, 4, 0, 1);
    setImmediate(() => process.exit(7));
  },
  'exit with threads that nobody joins'() {
    const ring = addon.open(api(), count, 16, 256, 0, 0, undefined, 1);
    addon.produce(ring, 4, 0, 1);
    setTimeout(() => process.exit(7), 5);
  },
  async [ofWorkers]() {
    const workerData = { path, each: 0, busy: false, joinsLate: 1 };
    const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData });
    const [address] = await once(worker, 'message');
    await worker.terminate();
    const ring = addon.at(address);
    addon.join(ring);
    console.log(addon.stats(ring)[2]);
  },
  'workers alone have the addons'() {
    const code = `
      const { parentPort, workerData } = require('node:worker_threads');
      import('millrace/threads').then(({ api }) => {
        const addon = require(workerData);
        const ring = addon.open(api(), () => {}, 16, 256, 0, 0);
        addon.produce(ring, 2, 0, 1);
        setTimeout(() => process.exit(), 5);
      });`;
    for (let i = 0; i < 3; i++) new Worker(code, { eval: true, workerData: path });
  },
};

ways[how]();
