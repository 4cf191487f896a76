/** Arm of one round: a fresh fleet, one run of the generator, the CPU of nodes and broker. */
import { runLoad } from '@millrace/lab/load';
import { refuseFaults } from '../../../lib/checks.js';
import { CpuClock } from '../../../lib/cpu.js';
import { startFleet } from './fleet.js';

/**
 * @param {string} name of the case
 * @param {object} fleet as for `startFleet`
 * @param {object} load options of the generator
 */
export async function measureRooms(name, fleet, load) {
  const { port, pids, nodes, died, stop } = await startFleet({ ...fleet, rooms: load.rooms });
  try {
    const clocks = pids.map((pid) => new CpuClock(pid));
    const used = [];
    const onMark = () => used.push(clocks.map((clock) => clock.read()));
    const report = await Promise.race([runLoad({ port, ...load }, { onMark }), died]);
    refuseFaults(name, fleet.subject, report);
    const [before, after] = used;
    const deliveries = report.msgs_per_s * report.measured_s;
    const [broker, ...others] = after.map((us, i) => (us - before[i]) / deliveries);
    return {
      msgs_per_s: report.msgs_per_s,
      cpu_us_per_msg: broker + others.reduce((a, b) => a + b, 0),
      broker_us_per_msg: broker,
      p50_ms: report.latency.p50,
      p99_ms: report.latency.p99,
      report,
      stats: await Promise.all(nodes.map((node) => node.stats())),
    };
  } finally {
    await stop();
  }
}
