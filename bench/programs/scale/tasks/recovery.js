/** Measures the time until another worker has done the tasks of one that was killed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startNats } from '../nats.js';
import { start } from '../start.js';

/** Number of tasks: both workers have some when one is killed, and they are too short to matter against `ackWait`. */
const many = 40;
const taskMs = 50;
const beforeMs = 200;
const lookMs = 10;

/**
 * @param {number} ackWait of the stream, ms
 * @returns {Promise<{ recovery_ms: number }>} from kill -9 until every task is done and acknowledged
 */
export async function workerRecovery(ackWait) {
  const server = await startNats();
  const children = [];
  try {
    const place = ['millrace', server.url];
    const producer = await start('tasks/producer.js', place, children);
    const args = [...place, { ackWait, maxThreads: 2, batch: 10 }];
    const killed = await start('tasks/worker.js', args, children);
    const other = await start('tasks/worker.js', args, children);
    await producer.ask({ waits: [many, taskMs] });
    await sleep(beforeMs);
    const at = performance.now();
    await killed.stop();
    while ((await other.ask('left')) > 0) await sleep(lookMs);
    return { recovery_ms: performance.now() - at };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await server.stop();
  }
}
