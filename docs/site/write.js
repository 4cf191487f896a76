/** Puts the site into a folder, in the place of an earlier one. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../scripts/lib/failure.js';

/** Lists what was written: nothing else is ever removed. */
const LIST = '.millrace-site';

/**
 * @param {string} folder
 * @param {Map<string, string | Buffer>} files by path
 * @throws {Failure} when the folder has something else in it
 */
export function writeSite(folder, files) {
  clear(folder);
  for (const [path, content] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  writeFileSync(join(folder, LIST), [...files.keys(), ''].join('\n'));
}

function clear(folder) {
  if (!existsSync(folder) || readdirSync(folder).length === 0) return;
  if (!existsSync(join(folder, LIST))) {
    throw new Failure(`OUT is ${folder}, which has other files; name a new or an empty folder`);
  }
  const list = readFileSync(join(folder, LIST), 'utf8').split('\n').filter(Boolean);
  for (const path of list) rmSync(join(folder, path), { force: true });
}
