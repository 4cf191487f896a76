/** Builds addons for the tests, and says why it cannot. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { include } from 'millrace/threads';

const require = createRequire(import.meta.url);
const compiler = process.env.CC || 'cc';

/** Node-API is the same in every release, so any headers will do: of the running Node, else of the one in the PATH. */
const headers = [
  process.execPath,
  ...process.env.PATH.split(delimiter).map((at) => join(at, 'node')),
]
  .filter((path) => existsSync(path))
  .map((path) => join(dirname(realpathSync(path)), '../include/node'))
  .find((folder) => existsSync(join(folder, 'node_api.h')));

/** Runs the compiler with the folders of node_api.h and millrace.h; throws what it says. */
export function compile(name, ...args) {
  const folders = [headers, include].map((folder) => `-I${folder}`);
  const { status, stderr, error } = spawnSync(name, [...folders, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${name} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

const missing = (name) => spawnSync(name, ['--version']).error !== undefined;

/** Why nothing can be built here; null when it can. */
export const unable =
  (process.platform === 'win32' && 'they are written for pthreads') ||
  (headers === undefined && 'there are no headers of Node.js') ||
  (missing(compiler) && `there is no C compiler (${compiler})`) ||
  null;

export { missing };

const shared =
  process.platform === 'darwin'
    ? ['-bundle', '-undefined', 'dynamic_lookup']
    : ['-shared', '-fPIC', '-pthread'];

/** The path of an addon, made from a source of this folder; it goes when the process does. */
export function build(source) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-addon-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'addon.node');
  const input = fileURLToPath(new URL(source, import.meta.url));
  compile(compiler, ...shared, '-O2', '-Wall', '-Wextra', '-Werror', '-o', path, input);
  return path;
}

export const load = (path) => require(path);
