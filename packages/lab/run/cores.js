import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Moves this process, and what it will start, to one core, and leaves another one for the server
 * that it measures.
 *
 * @returns {{ server: number, release: () => void } | null} the server's core for `startServer`, and a
 *   way back; null where there is one core only, or no taskset
 */
export function partCores() {
  const allowed = allowedCores();
  if (allowed.length < 2 || !moveSelf(allowed.at(-1))) return null;
  return { server: allowed[0], release: () => moveSelf(allowed.join(',')) };
}

/** The numbers of the cores that this process may use; none where the system does not say. */
function allowedCores() {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1];
    return list.split(',').flatMap((part) => {
      const [first, last = first] = part.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  } catch {
    return [];
  }
}

function moveSelf(cores) {
  const { status } = spawnSync('taskset', ['-acp', String(cores), String(process.pid)]);
  return status === 0;
}
