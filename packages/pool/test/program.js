/** A program with a pool, which ends by itself. */
import { Pool } from '@millrace/pool';
import { begins, newGate, repeat, tasks } from './support.js';

const scenarios = {
  async idle(open) {
    await open({ maxThreads: 2 }).run(1);
  },
  async busy(open) {
    const pool = open();
    const calls = repeat(20, (n) => pool.run({ n }, { name: 'task' }));
    for (const call of calls) console.log(await call);
    await pool.run({ deaths: 1 }, { name: 'attempt', retry: 1 });
    console.log('died once');
  },
  async behind(open) {
    const pool = open({ abortGrace: 20 });
    const controller = new AbortController();
    const begun = begins(pool, 'deaf');
    const call = pool.run({ say: 'deaf' }, { name: 'deaf', signal: controller.signal });
    await begun;
    const behind = pool.run('behind');
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await call.catch(() => console.log('given up'));
    console.log(await behind);
  },
  async grace(open) {
    const pool = open({ abortGrace: 2 ** 31 - 1 });
    const controller = new AbortController();
    const gate = newGate();
    gate.open();
    const begun = begins(pool, 'listens');
    const { signal } = controller;
    const call = pool.run({ say: 'listens', gate: gate.cell }, { name: 'listen', signal });
    await begun;
    controller.abort();
    await call.catch(() => console.log('given up'));
  },
  async prints(open) {
    const pool = open();
    await Promise.all(repeat(200, (n) => pool.run(n, { name: 'print' })));
    process.exit();
  },
};

process.on('exit', () => console.log('exit'));
await scenarios[process.argv[2]]((options) => {
  return new Pool({ filename: tasks, minThreads: 1, maxThreads: 1, ...options });
});
