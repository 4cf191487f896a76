/** The code of packages in another folder, without what only editors and debuggers read: that is two files in three, and creating them takes seconds. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../..', import.meta.url));
const ofMillrace = ['base', 'guard', 'monitor', 'millrace'];

/**
 * @param {string} folder a `node_modules`, in which the packages are then
 * @param {string[]} [names] of their folders here; what `millrace` is made of, unless they are given
 */
export function copyCode(folder, names = ofMillrace) {
  const filter = (path) => !/\.(d\.c?ts|map)$/.test(path);
  for (const name of names) {
    const to = join(folder, name === 'millrace' ? name : `@millrace/${name}`);
    for (const part of ['package.json', 'dist']) {
      cpSync(join(packages, name, part), join(to, part), { recursive: true, filter });
    }
  }
}
