// A worker of durable tasks: OPTIONS of it. SKEW: its clock is so many ms ahead.
import { TaskWorker } from '@millrace/nats/tasks';
import { wallClock } from '../../../../base/test/clocks.js';
import { patiently } from '../../patience.js';
import { answer, say } from '../../talk.js';

const skewMs = Number(process.env.SKEW ?? 0);
const { now } = wallClock;
if (skewMs !== 0) wallClock.now = () => now() + skewMs;
const { filename, ...options } = JSON.parse(process.env.OPTIONS);
const worker = new TaskWorker({ ...options, filename: new URL(filename) });
await patiently(() => worker.ready());
say('ready');
answer({ stats: () => worker.stats(), close: () => worker.close() });
process.once('SIGTERM', async () => {
  await worker.close();
  process.exit(0);
});
