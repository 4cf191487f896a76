/** Measures one arm of one round: a fresh server of rooms, one run of the generator, the server's CPU time. */
import { fileURLToPath } from 'node:url';
import { runLoad } from '@millrace/lab/load';
import { startChild } from './child.js';
import { CpuClock } from './cpu.js';

/** Returns the path of a program in servers/. */
export const program = (name) => fileURLToPath(new URL(`./servers/${name}`, import.meta.url));

/**
 * Starts a server that reports its port.
 *
 * @param {object} server
 * @param {string[]} server.command
 * @param {Record<string, string>} [server.env] added to the environment
 * @returns {Promise<import('./child.js').Child & { port: number }>}
 */
export async function startServer({ command, env }) {
  const child = await startChild(command, { env });
  return { ...child, port: child.first.port };
}

/**
 * @param {object} server as for `startServer`
 * @param {object} load options of the generator
 * @param {string | null} [question] question to the server at the end
 * @returns {Promise<object>} the metrics, the generator's report as `report` and the server's answer as `stats`
 */
export async function measure(server, load, question = 'stats') {
  const { pid, port, died, ask, stop } = await startServer(server);
  try {
    const cpu = new CpuClock(pid);
    const used = [];
    const onMark = () => used.push(cpu.read());
    const report = await Promise.race([runLoad({ port, ...load }, { onMark }), died]);
    const [before, after] = used;
    return {
      msgs_per_s: report.msgs_per_s,
      cpu_us_per_msg: (after - before) / (report.msgs_per_s * report.measured_s),
      p50_ms: report.latency.p50,
      p99_ms: report.latency.p99,
      report,
      stats: question === null ? null : await ask(question),
    };
  } finally {
    await stop();
  }
}

/** Metrics of `measure`. */
export const metrics = ['msgs_per_s', 'cpu_us_per_msg', 'p50_ms', 'p99_ms'];
