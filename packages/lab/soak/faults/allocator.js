/** Compiles allocator.c, by which the processes of the service ask the C library. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('./allocator.c', import.meta.url));

/**
 * @param {string} folder to write into
 * @returns {string} the path of what `require()` loads; empty where the C library is not glibc, or there is no compiler
 */
export function compileAllocator(folder) {
  const library = join(folder, 'allocator.node');
  const args = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-o', library, SOURCE];
  return spawnSync('cc', args, { stdio: 'ignore' }).status === 0 ? library : '';
}
