import { spawnSync } from 'node:child_process';
import { allowedCpus } from '@millrace/base/limits/kernel';

/**
 * Moves this process, and what it will start, to one core, and leaves another one for the server
 * that it measures.
 *
 * @returns {{ server: number, release: () => void } | null} the server's core for `startServer`, and a
 *   way back; null where there is one core only, or no taskset
 */
export function partCores() {
  const allowed = allowedCpus('/') ?? [];
  if (allowed.length < 2 || !moveSelf(allowed.at(-1))) return null;
  return { server: allowed[0], release: () => moveSelf(allowed.join(',')) };
}

function moveSelf(cores) {
  const { status } = spawnSync('taskset', ['-acp', String(cores), String(process.pid)]);
  return status === 0;
}
