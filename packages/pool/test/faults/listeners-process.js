/** A program whose listeners throw, for each event that is an argument. Prints how its calls have ended, and the errors that nobody caught. */
import { Pool } from '@millrace/pool';
import { counters, outcomes, repeat, tasks, until } from './support.js';

const events = process.argv.slice(2);
const uncaught = [];
process.on('uncaughtException', ({ message }) => uncaught.push(message));
const runs = counters(200);
const pool = new Pool({ filename: tasks, maxThreads: 2, workerData: { runs } });
for (const event of events) {
  pool.on(event, () => {
    throw new Error(`in ${event}`);
  });
}
const answered = await outcomes([
  ...repeat(200, (n) => pool.run(n, { name: 'count' })),
  pool.run({ how: 'timer' }, { name: 'crash' }),
  pool.run('posts what nobody asked for', { name: 'sabotages' }),
  pool.run(0, { name: 'loop', timeout: 5 }),
]);
await pool.prewarm();
const [worker] = pool.threads;
const crash = new Promise((resolve) => worker.once('exit', resolve));
worker.emit('error', new Error('injected'));
await worker.terminate();
await crash;
await pool.prewarm();
await until(() => events.every((event) => uncaught.includes(`in ${event}`)));
await pool.destroy();
process.stdout.write(JSON.stringify({ answered, uncaught }));
