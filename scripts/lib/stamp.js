import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { files } from './files.js';
import { projectCache, root } from './paths.js';

const stamps = join(projectCache, 'stamps');

/**
 * Does some work only when what it reads has changed since it last succeeded, or when what it
 * makes is gone. All paths are relative to the root.
 *
 * @param {object} what
 * @param {string} what.name of the stamp
 * @param {string[]} what.inputs files and folders
 * @param {string[]} what.outputs files
 * @param {() => Promise<void>} work
 * @returns {Promise<boolean>} whether the work was done
 */
export async function whenChanged({ name, inputs, outputs }, work) {
  const stamp = join(stamps, name);
  const digest = digestOf(inputs);
  const made = outputs.every((path) => existsSync(join(root, path)));
  if (made && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  rmSync(stamp, { force: true });
  await work();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, digest);
  return true;
}

function digestOf(inputs) {
  const hash = createHash('sha256').update(
    `${process.version} ${process.platform} ${process.arch}`,
  );
  const paths = inputs.flatMap(contents);
  for (const path of paths) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}

function contents(path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat) throw new Failure(`${path} is missing`);
  return stat.isDirectory() ? files(path) : [path];
}
