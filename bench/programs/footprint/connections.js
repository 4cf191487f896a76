/** Servers that hold connections, and what they answer meanwhile. */
import { readFileSync } from 'node:fs';
import { runLoad } from '@millrace/lab/load';
import { refuseFaults } from '../../lib/checks.js';
import { program, startServer } from '../../lib/load.js';

const programs = {
  ws: [program('ws.js')],
  rooms: [program('rooms.js')],
  install: ['--import', program('install.js'), program('ws.js')],
};
const perRoom = 100;

/**
 * Asks a server before it has connections, and again when all are open and a second has passed.
 *
 * @param {string} arm
 * @param {object} load
 * @param {number} load.connections in rooms of 100
 * @param {number} load.rate messages per second in all
 * @param {number} load.seconds that the connections are kept for the second answer
 * @param {string} question
 * @returns {Promise<[before: any, meanwhile: any]>}
 */
async function ask(arm, { connections, rate, seconds }, question) {
  const command = [process.execPath, '--expose-gc', ...programs[arm]];
  const server = await startServer({ command });
  try {
    const before = await server.ask(question);
    let meanwhile = null;
    const report = await Promise.race([
      runLoad(
        {
          ...{ port: server.port, connections, rooms: connections / perRoom },
          ...{ mode: 'open', rate, spacing: 'uniform', warmup: 1, seconds },
        },
        {
          onProgress({ phase }) {
            if (phase === 'measure') meanwhile ??= server.ask(question);
          },
        },
      ),
      server.died,
    ]);
    if (report.sent > 0) refuseFaults(question, arm, report);
    return [before, await meanwhile];
  } finally {
    await server.stop();
  }
}

/** Bytes for each connection, all of which have got messages: what the process grew by, collected garbage left out. */
export async function memory(arm, connections) {
  const rate = (3 * connections) / perRoom;
  const [before, after] = await ask(arm, { connections, rate, seconds: 1 }, 'memory');
  return {
    rss_bytes: (after.rss - before.rss) / connections,
    heap_bytes: (after.heap - before.heap) / connections,
  };
}

/** Wake-ups of the server without messages. */
export async function wakeups(arm, connections) {
  const [, meanwhile] = await ask(arm, { connections, rate: 0.001, seconds: 3 }, 'wakeups');
  return { wakeups: meanwhile };
}

/** Limit on file descriptors per process. */
export const allowedDescriptors = () =>
  Number(/^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
