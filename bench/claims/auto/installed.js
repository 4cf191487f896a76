/** Applications with packages of their own, which are too much to be installed with the workspace. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LabError } from '@millrace/lab/experiment';

/**
 * The path of a file below apps/installed.
 *
 * @param {string} path relative to that folder
 * @returns {string}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when it has not been installed or built
 */
export function installed(path) {
  const file = fileURLToPath(new URL(`apps/installed/${path}`, import.meta.url));
  if (existsSync(file)) return file;
  throw new LabError(
    'MILLRACE_LAB_E_SERVER',
    `${file} is not there; make experiment NAME=auto-nextjs installs and builds it`,
  );
}
