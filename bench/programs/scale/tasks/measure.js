/** Arm of one round: a fresh server, one that hands tasks in, one that does them. */
import { CpuClock } from '../../../lib/cpu.js';
import { startRedis } from '../../../lib/redis.js';
import { startNats } from '../nats.js';
import { start } from '../start.js';

/** The server of each subject, and by what it is found. */
const servers = {
  millrace: async () => withPlace(await startNats(), ({ url }) => url),
  bullmq: async () => withPlace(await startRedis('no'), ({ port }) => port),
  'bullmq everysec': async () => withPlace(await startRedis('everysec'), ({ port }) => port),
};

const withPlace = (server, placeOf) => ({ server, place: `${placeOf(server)}` });

/**
 * @param {string} subject
 * @param {{ bulk: number } | { single: number }} work
 * @param {{ bulk: number }} warmup the same before it, whatever the work is
 * @returns {Promise<{ tasks_per_s: number, stored_per_s: number, cpu_us_per_task: number }>} done and stored a second, from the first one on;
 *   CPU of server, producer and worker together
 */
export async function measureTasks(subject, work, warmup) {
  const { server, place } = await servers[subject]();
  const children = [];
  try {
    const worker = await start('tasks/worker.js', [subject, place], children);
    const producer = await start('tasks/producer.js', [subject, place], children);
    const turn = async (what) => {
      const [count] = Object.values(what);
      const [done, stored] = await Promise.all([worker.ask(count), producer.ask(what)]);
      return { ...done, ...stored, count };
    };
    await turn(warmup);
    const clocks = [server, worker, producer].map(({ pid }) => new CpuClock(pid));
    const before = clocks.map((clock) => clock.read());
    const { began, stored, ended, count } = await turn(work);
    const us = clocks.reduce((sum, clock, i) => sum + clock.read() - before[i], 0);
    return {
      tasks_per_s: (count / (ended - began)) * 1000,
      stored_per_s: (count / (stored - began)) * 1000,
      cpu_us_per_task: us / count,
    };
  } finally {
    await Promise.all(children.map((child) => child.stop()));
    await server.stop();
  }
}
