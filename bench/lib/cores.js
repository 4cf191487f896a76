/** Assigns cores: one to the server alone, another to the generator and this process. */
import { partCores } from '../../packages/lab/run/cores.js';

/**
 * Moves this process, and with it the generator that it starts later, away from the server's core.
 *
 * @returns {{ prefix: string[], note: string }} prefix of the server's command
 */
export function pinned() {
  const cores = partCores();
  if (cores !== null) {
    const prefix = ['taskset', '-c', String(cores.server)];
    return { prefix, note: `server on core ${cores.server}, generator on another one` };
  }
  const why = 'there is only one core, or no taskset';
  return { prefix: [], note: `server and generator are not pinned to cores: ${why}` };
}
