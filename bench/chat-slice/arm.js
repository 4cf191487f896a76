/** One arm of one round: a fresh server, one run of the generator, the server's own counters. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runLoad } from 'millrace-lab/load';
import { Refused } from '../lib/bench.js';

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
      reject(
        new Error(`the server (${policy}) ended with ${signal ?? code} while it was measured`),
      );
    });
  });
  died.catch(() => {});
  try {
    const [{ port }] = await Promise.race([once(child, 'message'), died]);
    const readings = [];
    child.on('message', (reading) => readings.push(reading));
    const onProgress = ({ phase }) => {
      if (phase === 'measure' || phase === 'drain') child.send('read');
    };
    const report = await Promise.race([runLoad({ port, ...load }, { onProgress }), died]);
    return sample(report, readings);
  } finally {
    child.removeAllListeners('exit');
    child.once('exit', () => {});
    if (child.connected) child.disconnect();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/**
 * CPU per delivery between the first and the last reading of the server's counters, from the start
 * of the measured time to the end of the drain: a server with too much to do answers late.
 */
function sample(report, readings) {
  const [first, last] = [readings.at(0), readings.at(-1)];
  const deliveries = last?.deliveries - first?.deliveries;
  if (!(deliveries > 0)) {
    throw new Refused('the server did not tell its CPU time twice while it was measured');
  }
  return {
    msgs_per_s: report.msgs_per_s,
    cpu_us_per_msg: (last.cpu_us - first.cpu_us) / deliveries,
    p50_ms: report.latency.p50,
    p99_ms: report.latency.p99,
    deliveries_per_write: last.stats ? last.stats.deliveries / last.stats.sends : 1,
    readings,
    report,
  };
}
