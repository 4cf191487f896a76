import { execFile } from 'node:child_process';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { LabError } from './errors.js';
import { removeMoved } from './moved.js';

const run = promisify(execFile);
const source = fileURLToPath(new URL('.', import.meta.url));

/** Holds the generator, its C tests and the bare server. */
export const buildPath = join(source, 'build');

const generator = join(buildPath, 'millrace-load');
const stamp = join(buildPath, '.built');
const lock = join(buildPath, '.lock');

let building;

/**
 * Builds the generator into `packages/lab/load/build` when it is missing or older than its sources; else
 * costs a few file look-ups. Safe to call from several processes at once.
 *
 * @returns {Promise<string>} the path of the generator
 * @throws {LabError} `MILLRACE_LAB_E_BUILD`, with what is missing or what the compiler said
 */
export function buildGenerator() {
  building ??= buildWhenOld().finally(() => {
    building = undefined;
  });
  return building;
}

async function buildWhenOld() {
  const built = Math.min(await modifiedMs(generator), await modifiedMs(stamp));
  const changed = Math.max(...(await Promise.all((await sources()).map(modifiedMs))));
  if (built > changed) return generator;
  if (process.platform !== 'linux') {
    throw new LabError('MILLRACE_LAB_E_BUILD', 'the load generator uses epoll: it needs Linux');
  }

  // The stamp bears the time before the build, so what is changed meanwhile is built next time.
  const started = new Date();
  removeMoved(buildPath);
  await mkdir(buildPath, { recursive: true });
  await cmake('-S', source, '-B', buildPath, '-DCMAKE_BUILD_TYPE=Release');
  await cmake('--build', buildPath, '--parallel', '2');
  await writeFile(stamp, '');
  await utimes(stamp, started, started);
  return generator;
}

/** Runs cmake alone: two processes that build in one folder would spoil each other's files. */
async function cmake(...args) {
  try {
    await run('cmake', ['--version']);
    await run('flock', [lock, 'cmake', ...args]);
  } catch (error) {
    throw new LabError('MILLRACE_LAB_E_BUILD', reason(error));
  }
}

function reason({ code, path, stdout = '', stderr = '' }) {
  if (code === 'ENOENT') {
    return `${path} is not installed; the load generator is built with cmake, a C compiler and flock (on Debian: apt-get install cmake build-essential util-linux)`;
  }
  if (/CMAKE_C_COMPILER/.test(stderr)) {
    return 'there is no C compiler; the load generator needs one (on Debian: apt-get install build-essential)';
  }
  return `the load generator does not build:\n${stdout}${stderr}`;
}

async function sources() {
  const folders = ['src', 'test'].map(async (folder) => {
    const names = await readdir(join(source, folder)).catch((error) => {
      if (folder === 'test' && error.code === 'ENOENT') return []; // the package has no tests
      throw error;
    });
    return names.filter((name) => /\.[ch]$/.test(name)).map((name) => join(source, folder, name));
  });
  return [join(source, 'CMakeLists.txt'), ...(await Promise.all(folders)).flat()];
}

/** Time of the last change of a file, ms; 0 when there is none. */
async function modifiedMs(path) {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
