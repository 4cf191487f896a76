import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runLoad } from '../load/index.js';
import { chat } from './arms.js';
import { startServer } from './server.js';
import { Window } from './window.js';

export const WARMUP_S = 1;

/** Time in ms for a server that has just closed every connection to be on its way out. */
const CRASH_MS = 500;

/** Seconds for what is under way at the end, and for a connection to be open: limits, which a busy machine comes near to. */
const PATIENCE_S = 60;

/**
 * Measures once: starts the chat, loads it, stops it.
 *
 * @param {object} options
 * @param {string} options.policy
 * @param {Record<string, string | number>} options.load options of the generator, whole seconds
 * @param {string} options.dataDir for the chat; gone afterwards
 * @param {number} [options.core] the only core of the chat
 * @param {import('./cleanup.js').Cleanup} options.cleanup
 * @returns {Promise<Run>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when the chat ends, and those of `runLoad`
 *
 * @typedef {object} Run
 * @property {string} policy
 * @property {object} report the generator's, see ../load/README.md
 * @property {object} stats what the chat's /stats answered at the end
 * @property {number} cpuUsPerMessage CPU time of the server per delivered message, µs
 * @property {number} cpuShare of a core that the server used
 * @property {number} writesPerMessage writing system calls of the server per delivered message
 * @property {'kernel' | 'server'} writesBy who has counted them
 */
export async function measure({ policy, load, dataDir, core, cleanup }) {
  const server = await startServer({
    ...chat({ policy, dataDir, limitFlood: false }),
    core,
    cleanup,
  });
  const window = new Window(server);
  const report = await loadOrCrash(server, load, window, cleanup);
  const stats = await server.get('/stats');
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
  return { policy, report, stats, ...(await window.costs()) };
}

async function loadOrCrash(server, load, window, cleanup) {
  const stop = new AbortController();
  server.failed.catch((error) => stop.abort(error));
  const onStop = () => stop.abort(cleanup.signal.reason);
  cleanup.signal.addEventListener('abort', onStop, { once: true });
  const running = runLoad(
    {
      ...{ ...load, protocol: 'chat', port: server.port, warmup: WARMUP_S },
      ...{ drain: PATIENCE_S, connectTimeout: PATIENCE_S },
    },
    { signal: stop.signal, onProgress: (tick) => window.take(tick) },
  );
  const forget = cleanup.add(() => running.catch(() => {}));
  try {
    const report = await running;
    // That the server has crashed says more than that its connections are closed.
    if (report.closed_early > 0) await failsIfDead(server);
    return report;
  } catch (error) {
    await failsIfDead(server);
    throw error;
  } finally {
    forget();
    cleanup.signal.removeEventListener('abort', onStop);
  }
}

/** Throws the failure of a server that has ended, or is about to. */
async function failsIfDead(server) {
  if (!(await server.hasExited(CRASH_MS))) return;
  await Promise.race([server.failed, sleep(PATIENCE_S * 1000, undefined, { ref: false })]);
}
