/** Runs other releases of Node.js, Bun and Deno, from the npm packages with their binaries. npm keeps them in its own cache. */
import { execFileSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { counted } from './counts.js';
import { Failure } from './failure.js';
import { projectCache } from './paths.js';
import { Skip } from './steps.js';
import { suite } from './suite.js';

const { platform, arch } = process;
const processor = { x64: 'x64', arm64: 'aarch64' }[arch] ?? arch;

/** Npm package of each runtime, its program, and its arguments to run another one. */
const runtimes = {
  Bun: [`@oven/bun-${platform}-${processor}`, 'bin/bun', 'run'],
  Deno: [
    `@deno/${platform}-${arch}${platform === 'linux' ? '-glibc' : ''}`,
    'deno',
    ...['run', '--allow-all', '--quiet', '--no-lock'],
  ],
};

/** Returns the path and the version of a program of an npm package. Installs the package unless it is in npm's cache. */
function programOf(name, tag, program) {
  // The package's folder of commands is the first one on the PATH.
  const args = ['exec', '--yes', `--package=${name}@${tag}`, '--call', 'echo "$PATH"'];
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  try {
    const [bin] = execFileSync('npm', args, options).split(delimiter);
    const path = join(bin, '..', name, program);
    return { path, version: execFileSync(path, ['--version'], options).trim() };
  } catch {
    throw new Skip(`npm could not install ${name}@${tag}`);
  }
}

/** Returns the path and the version of the newest Node.js of a line on npm. @param {string} release a major version */
export function nodeOf(release) {
  const node = programOf(`node-${platform}-${arch}`, release, 'bin/node');
  if (!node.version.startsWith(`v${release}.`)) {
    throw new Failure(`npm has Node.js ${node.version} as ${release}`);
  }
  return node;
}

/**
 * Returns a suite on another release of Node.js, the newest one of its line on npm.
 *
 * @param {string} release a major version
 * @param {string} path that is tested, for the title
 * @param {Parameters<typeof suite>[1]} folders
 * @param {Parameters<typeof suite>[2]} options
 * @returns {import('./steps.js').Step}
 */
export function suiteOn(release, path, folders, options) {
  const title = `Node.js ${release}, ${path}`;
  return {
    title,
    run: async (quiet) => {
      const node = nodeOf(release).path;
      return suite(title, folders, { ...options, node }).run(quiet);
    },
  };
}

/**
 * Returns a step that runs a program on another runtime; the program writes its counts to the file that its argument names.
 *
 * @param {'Bun' | 'Deno'} runtime
 * @param {string} program relative to the root
 * @returns {import('./steps.js').Step}
 */
export function programOn(runtime, program) {
  const [name, binary, ...args] = runtimes[runtime];
  return {
    title: `every entry point on ${runtime}`,
    run: async (quiet) => {
      const { path } = programOf(name, 'latest', binary);
      // No file may remain outside of the project.
      const env = { ...process.env, DENO_DIR: join(projectCache, 'deno') };
      const limits = { env, timeoutMs: 300_000 };
      return counted((tally) => quiet(path, [...args, program, tally], limits));
    },
  };
}
