/** One arm of one round: a fresh server, one run of the generator, the server's CPU time. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runLoad } from 'millrace-lab/load';
import { CpuPerDelivery } from './cpu.js';

const server = fileURLToPath(new URL('./server.js', import.meta.url));

/**
 * @param {string} policy of the server
 * @param {object} load options of the generator
 * @param {string[]} prefix of the server's command
 * @returns {Promise<object>} the metrics, and the generator's report as `report`
 */
export async function measure(policy, load, prefix) {
  const [command, ...args] = [...prefix, process.execPath, server, policy];
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const died = new Promise((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`the server (${policy}) ended with ${signal ?? code} while measured`));
    });
  });
  const answer = async () => (await Promise.race([once(child, 'message'), died]))[0];
  try {
    const { port } = await answer();
    const cpu = new CpuPerDelivery(child.pid);
    const onProgress = (line) => cpu.progress(line);
    const report = await Promise.race([runLoad({ port, ...load }, { onProgress }), died]);
    child.send('stats');
    const { deliveries, writes } = await answer();
    return {
      msgs_per_s: report.msgs_per_s,
      cpu_us_per_msg: cpu.value,
      p50_ms: report.latency.p50,
      p99_ms: report.latency.p99,
      deliveries_per_write: deliveries / writes,
      report,
    };
  } finally {
    // From here on its end is expected.
    died.catch(() => {});
    if (child.connected) child.disconnect();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}
