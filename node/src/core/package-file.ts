import { join } from 'node:path';
import { MillraceError } from '../errors.js';
import { installed } from './installed.cjs';

/**
 * The path of a file or folder of this package.
 *
 * @param who needs it, for the message
 * @throws {MillraceError} `MILLRACE_E_BUNDLED` in a bundle that finds no package of its version
 */
export function packageFile(path: string, who: string): string {
  const { folder, missing } = installed();
  if (folder !== null) return join(folder, path);
  throw new MillraceError(
    'MILLRACE_E_BUNDLED',
    `${who} needs files that a bundle does not have, and ${missing}; install it there, or bundle with --external:millrace`,
  );
}
