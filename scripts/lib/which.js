import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The path of a command, or undefined when it is not there.
 *
 * @param {string} command
 * @param {string[]} folders to look in after those of the PATH
 * @returns {string | undefined}
 */
export function which(command, folders = []) {
  return [...process.env.PATH.split(delimiter), ...folders]
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
