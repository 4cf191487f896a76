/**
 * The packages as they are published: one `npm pack` of all of them, again when a file has changed that one of them takes. Tests of
 * packages that run one after another pack once.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from './failure.js';
import { npmEnvironment } from './npm-environment.js';
import { projectCache, read, root, typed } from './paths.js';
import { whenChanged } from './stamp.js';

/** The folders of the packages, each after those that it uses. */
export const published = [...typed, 'lab'];

const folder = join(projectCache, 'packed');
const list = '.cache/packed/packed.json';

/**
 * @typedef {object} Packed
 * @property {string} folder
 * @property {Record<string, any>} manifest its `package.json`
 * @property {string} tarball
 * @property {string[]} files in it
 */

/** @returns {Promise<Map<string, Packed>>} by the names that users know */
export async function packed() {
  await packAll();
  const all = JSON.parse(readFileSync(join(root, list), 'utf8'));
  return new Map(all.map((each) => [each.manifest.name, each]));
}

const manifestOf = (name) => JSON.parse(read(`packages/${name}/package.json`));

/** What a package is made of: all that it publishes, and where some of it is copied from. */
function inputs(name) {
  if (name === 'lab') return ['packages/lab'];
  const paths = ['package.json', ...manifestOf(name).files].map(
    (path) => `packages/${name}/${path}`,
  );
  return paths.filter((path) => existsSync(join(root, path)));
}

function packAll() {
  const what = {
    name: 'packed',
    inputs: [...published.flatMap(inputs), 'packages/millrace/addon', 'c/include', 'c/src'],
    outputs: [list],
  };
  return whenChanged(what, async () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const all = await pack(
      published.map((name) => join(root, 'packages', name)),
      folder,
    );
    writeFileSync(join(root, list), JSON.stringify(all));
  });
}

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
  return Object.values(JSON.parse(stdout)).map(({ filename, files }, i) => ({
    folder: folders[i],
    manifest: JSON.parse(readFileSync(join(folders[i], 'package.json'), 'utf8')),
    tarball: join(to, filename),
    files: files.map(({ path }) => path),
  }));
}
