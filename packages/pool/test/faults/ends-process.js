/** A program with a pool that it leaves in some state. Prints which one, and ends by itself, unless it is `busy`. */
import { Pool } from '@millrace/pool';
import { counters, repeat, tasks } from './support.js';

const what = process.argv[2];
const never = new URL('./never.js', import.meta.url);
const pool = new Pool({
  filename: tasks,
  maxThreads: 2,
  closeTimeout: 600_000,
  workerData: { runs: counters(100) },
});

const states = {
  idle() {},
  async done() {
    await Promise.all(repeat(100, (n) => pool.run(n, { name: 'count', timeout: 600_000 })));
  },
  async 'aborted while it loads'() {
    const controller = new AbortController();
    const call = pool.run(1, { filename: never, signal: controller.signal });
    controller.abort();
    await call.catch(() => {});
  },
  prewarmed: () => pool.prewarm(),
  recycled: () => pool.recycle(),
  async destroyed() {
    const calls = Promise.allSettled(repeat(100, (n) => pool.run(n)));
    await pool.destroy();
    await calls;
  },
  async closed() {
    const calls = Promise.all(repeat(100, (n) => pool.run(n)));
    await pool.close();
    await calls;
  },
  async 'never ready'() {
    const other = new Pool({ filename: never, maxThreads: 1 });
    const controller = new AbortController();
    const call = other.run(1, { signal: controller.signal });
    controller.abort();
    await call.catch(() => {});
  },
  async busy() {
    pool.on('message', () => process.stdout.write('it runs\n'));
    await Promise.all(repeat(100, () => pool.run(0, { name: 'loop' })));
  },
};

await states[what]();
process.stdout.write(`${what}\n`);
