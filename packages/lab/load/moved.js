import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes a folder that CMake has set up in another place, and refuses to build in: the working copy was moved, or copied.
 *
 * @param {string} folder that is built in; it may not be there yet
 */
export function removeMoved(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const [, made] = /^CMAKE_CACHEFILE_DIR:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8')) ?? [];
  if (made !== folder && made !== realpathSync(folder)) rmSync(folder, { recursive: true });
}
