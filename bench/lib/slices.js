/**
 * Measures CPU time of servers that differ by a percent or two: less than a shared machine changes from one second to the next. So the
 * servers of all arms run at the same time, and one load goes round: a slice of equal work for each, in an order that is random in each
 * lap, and so short that it takes tens of milliseconds. A disturbance longer than a lap slows all arms, and does not change their
 * ratio. A server uses no CPU during another one's slice, and the kernel counts the time of each.
 *
 * The addresses of a process's code and data matter, too, and stay for its life: two servers of one program differ by some
 * percent, more than the noise of laps. So a round has servers of its own and few laps, there are many rounds, and an interval is
 * over rounds.
 */

import { shuffled } from '@millrace/lab/stats';
import { CpuClock } from './cpu.js';
import { startServer } from './load.js';

/**
 * Measures one round.
 *
 * @template {{ wrong: string | null, connect(): Promise<void>, run(count: number): Promise<void>, close(): void }} Load
 * @param {object} plan
 * @param {Record<string, { command: string[], env?: Record<string, string> }>} plan.servers by arm, as for `startServer`
 * @param {(port: number) => Load} plan.load of one server; `run` resolves when all of its requests were answered
 * @param {number} plan.slice requests of a slice
 * @param {number} plan.laps that count
 * @param {number} plan.warmup laps before them
 * @param {() => number} plan.random gives the order
 * @returns {Promise<Record<string, { cpu_us_per_req: number, good_per_s: number, load: Load, stats: any }>>}
 */
export async function slicedRound({ servers, load, slice, laps, warmup, random }) {
  const arms = new Map();
  try {
    for (const [name, server] of Object.entries(servers)) {
      const running = await startServer(server);
      const arm = { ...running, load: load(running.port), cpu: new CpuClock(running.pid) };
      arms.set(name, { ...arm, usedUs: 0, tookMs: 0 });
      await arm.load.connect();
    }
    for (let lap = -warmup; lap < laps; lap++) {
      for (const name of shuffled([...arms.keys()], random)) {
        const arm = arms.get(name);
        const [before, start] = [arm.cpu.read(), performance.now()];
        await Promise.race([arm.load.run(slice), arm.died]);
        if (lap < 0) continue;
        arm.tookMs += performance.now() - start;
        arm.usedUs += arm.cpu.read() - before;
      }
    }
    const round = {};
    for (const [name, { usedUs, tookMs, load, ask }] of arms) {
      const requests = slice * laps;
      round[name] = {
        cpu_us_per_req: usedUs / requests,
        good_per_s: (requests / tookMs) * 1000,
        load,
        stats: await ask('stats'),
      };
    }
    return round;
  } finally {
    for (const { load, stop } of arms.values()) {
      load.close();
      await stop();
    }
  }
}
