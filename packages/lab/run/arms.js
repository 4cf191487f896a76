import { fileURLToPath } from 'node:url';

const CHAT = fileURLToPath(new URL('../../../examples/chat/server.js', import.meta.url));

/** Arms that are compared: the control first. */
export const arms = ['direct', 'adaptive'];

/**
 * Returns what `startServer` needs for the chat.
 *
 * @param {object} options
 * @param {string} options.policy
 * @param {string} options.dataDir where it keeps its database
 * @param {number} [options.port] default: any free one
 * @param {boolean} [options.limitFlood] default true; false takes as many frames from a client as come
 */
export function chat({ policy, dataDir, port = 0, limitFlood = true }) {
  const flood = limitFlood ? [] : ['--flood-limit', '0'];
  return {
    name: `the chat (${policy})`,
    command: [
      process.execPath,
      CHAT,
      ...['--policy', policy, '--port', `${port}`, '--data-dir', dataDir, '--quiet', ...flood],
    ],
    // SQLite, whatever the chats of this machine use otherwise.
    env: { DATABASE_URL: '' },
  };
}
