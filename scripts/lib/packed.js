/**
 * Packs the packages as published, this platform's with the addon built here and that of the C: one `npm pack` of all of them, repeated only after
 * a file has changed. Tests of packages that run one after another pack once.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from './failure.js';
import { files } from './files.js';
import { npmEnvironment } from './npm-environment.js';
import { projectCache, root, typed } from './paths.js';
import { writePlatformPackage } from './platform-package.js';
import { writeSourcePackage } from './source-package.js';

/** Folders of the packages, each after its dependencies. */
export const published = [...typed, 'lab'];

const folder = join(projectCache, 'packed');
const list = '.cache/packed/packed.json';
const sources = ['packages', 'c/include', 'c/src'];
const addon = 'packages/millrace/addon/build/Release/millrace.node';

/**
 * @typedef {object} Packed
 * @property {string} folder
 * @property {Record<string, any>} manifest its `package.json`
 * @property {string} tarball
 * @property {string[]} files in it
 * @property {number} bytes size of the files
 */

/** @returns {Promise<Map<string, Packed>>} by the names that users know */
export async function packed() {
  // The compiler updates its build info when it writes into `dist`.
  const built = typed.map((name) => `.cache/types/${name}.tsbuildinfo`);
  const changed = [...sources.flatMap(files), ...built, addon].map(modifiedMs);
  if (modifiedMs(list) <= Math.max(...changed)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const folders = [
      ...published.map((name) => join(root, 'packages', name)),
      platformPackage(join(folder, 'platform')),
      writeSourcePackage(join(folder, 'source')),
    ];
    writeFileSync(join(root, list), JSON.stringify(await pack(folders, folder)));
  }
  const all = JSON.parse(readFileSync(join(root, list), 'utf8'));
  return new Map(all.map((each) => [each.manifest.name, each]));
}

/** Writes the package of this platform. */
function platformPackage(to) {
  if (!existsSync(join(root, addon))) throw new Failure(`${addon} is missing; run make setup`);
  const require = createRequire(import.meta.url);
  const { thisPlatform } = require('../../packages/millrace/dist/native/platforms.cjs');
  return writePlatformPackage(thisPlatform(), join(root, addon), to);
}

const modifiedMs = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * @param {string[]} folders of packages
 * @param {string} to the folder of the tarballs
 * @returns {Promise<Packed[]>}
 */
export async function pack(folders, to) {
  const options = { cwd: root, env: npmEnvironment(to) };
  const args = ['pack', '--json', '--pack-destination', to, ...folders];
  const { stdout } = await promisify(execFile)('npm', args, options).catch(({ message }) => {
    throw new Failure(message);
  });
  return Object.values(JSON.parse(stdout)).map(({ filename, files, unpackedSize }, i) => ({
    folder: folders[i],
    manifest: JSON.parse(readFileSync(join(folders[i], 'package.json'), 'utf8')),
    tarball: join(to, filename),
    files: files.map(({ path }) => path),
    bytes: unpackedSize,
  }));
}
