/** Who runs where: the server has one core to itself, the generator and this process another. */
import { execFileSync } from 'node:child_process';

/**
 * Moves this process, and with it the generator that it will start, away from the server's core.
 *
 * @returns {{ prefix: string[], note: string }} what to put before the server's command
 */
export function pinned() {
  try {
    const [server, generator] = allowedCores();
    if (generator === undefined) return apart('there is only one core');
    taskset('-cp', String(generator), String(process.pid));
    return {
      prefix: ['taskset', '-c', String(server)],
      note: `server on core ${server}, generator on core ${generator}`,
    };
  } catch (error) {
    return apart(error.code === 'ENOENT' ? 'there is no taskset here' : error.message);
  }
}

function apart(why) {
  return { prefix: [], note: `server and generator are not pinned to cores: ${why}` };
}

/** The cores that this process may use, from "pid 12's current affinity list: 0-2,5". */
function allowedCores() {
  const list = taskset('-cp', String(process.pid)).split(':').pop().trim();
  return list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const taskset = (...args) => execFileSync('taskset', args, { encoding: 'utf8' });
