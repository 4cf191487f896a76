// A worker of durable tasks: OPTIONS of serveTasks(). SKEW: its clock is so many ms ahead.
import { serveTasks } from 'millrace/pool';
import { answer, say } from '../../../broker/talk.js';
import { wallClock } from '../../../core/clocks.js';

const skewMs = Number(process.env.SKEW ?? 0);
const { now } = wallClock;
if (skewMs !== 0) wallClock.now = () => now() + skewMs;
const { filename, ...options } = JSON.parse(process.env.OPTIONS);
const worker = await serveTasks({ ...options, filename: new URL(filename) });
say('ready');
answer({ stats: () => worker.stats(), close: () => worker.close() });
process.once('SIGTERM', async () => {
  await worker.close();
  process.exit(0);
});
