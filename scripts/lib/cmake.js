/**
 * Projects in C, by CMake and CTest. A preset of CMakePresets.json builds a project with other flags, in a folder of its own:
 *
 *     cmake --preset asan && cmake --build build/asan && ctest --test-dir build/asan     # in c
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { removeMoved } from '../../packages/lab/load/moved.js';
import { find, prefix } from '../debian.js';
import { counted, junit } from './counts.js';
import { newestLibuv } from './libuv.js';
import { projectCache, root } from './paths.js';
import { Skip } from './steps.js';
import { cmakeFor } from './zig.js';

/** Sanitizers are slow, and so is a machine that does other things as well. */
const CTEST_TIMEOUT_MS = 1_200_000;

/** @param {string} [preset] without one it is the folder of the plain build */
const folderOf = (source, preset = '') => join(root, source, 'build', preset);

/**
 * Configures a project and builds it; CMake knows what is new.
 *
 * @param {string} source folder of its CMakeLists.txt
 * @param {string | undefined} preset
 * @param {import('./steps.js').Quiet} quiet
 * @param {{ args?: string[], target?: string, folder?: string }} [options] `args` for the configuration; `folder` in `build` without a preset
 */
async function build(source, preset, quiet, { args = [], target = 'all', folder: place } = {}) {
  const folder = folderOf(source, preset ?? place);
  removeMoved(folder);
  const options = { cwd: join(root, source), env: environment() };
  const chosen = preset ? ['--preset', preset] : ['-B', folder];
  await quiet('cmake', [...chosen, ...args], options);
  await quiet('cmake', ['--build', folder, '--parallel', '2', '--target', target], options);
}

/**
 * @param {string} source
 * @param {string | undefined} preset
 * @param {import('./steps.js').Quiet} quiet
 * @param {object} [options]
 * @param {number} [options.parallel] tests at a time
 * @param {number} [options.seconds] that one test may take
 * @param {number} [options.timeoutMs] that all tests may take
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {string[]} [options.args] of ctest
 */
function ctest(source, preset, quiet, options = {}) {
  const { parallel = 1, seconds = 300, timeoutMs = CTEST_TIMEOUT_MS, env, args = [] } = options;
  const shown = ['--no-tests=error', '--output-on-failure', ...args];
  const limits = ['--parallel', `${parallel}`, '--timeout', `${seconds}`];
  const limited = { env: { ...process.env, ...env }, timeoutMs };
  return counted((report) => {
    const tests = ['--test-dir', folderOf(source, preset), '--output-junit', report];
    return quiet('ctest', [...tests, ...shown, ...limits], limited);
  }, junit);
}

/** A step that runs the tests of a project that is built. */
export const ctestStep = (title, source, options) => ({
  title,
  folders: [`${source}/test`],
  run: (quiet) => ctest(source, undefined, quiet, options),
});

/**
 * A step that builds a project and runs its tests.
 *
 * @param {string} title
 * @param {string} source
 * @param {object} [options] those of `ctest`, and:
 * @param {string} [options.preset]
 * @param {'clang'} [options.compiler] that the preset names
 * @param {'any' | 'newest'} [options.libuv] that it needs
 * @param {(folder: string, quiet: import('./steps.js').Quiet) => Promise<void>} [options.after] does more with it
 * @returns {import('./steps.js').Step}
 */
export const cmakeTests = (title, source, { preset, compiler, libuv, after, ...options } = {}) => ({
  title,
  run: async (quiet) => {
    if (compiler && !find(compiler)) throw new Skip(`needs ${compiler}`);
    const args = libuv
      ? [withLibuv(libuv === 'newest' ? await newestLibuv(quiet) : undefined)]
      : [];
    await build(source, preset, quiet, { args });
    const counts = await ctest(source, preset, quiet, options);
    await after?.(folderOf(source, preset), quiet);
    return counts;
  },
});

/**
 * A step that compiles libuvbatch and libuv for a processor with Alpine's C library, and runs the tests. They are linked statically, so that they need
 * nothing of that system.
 *
 * @param {'x86_64' | 'aarch64'} processor
 * @param {object} [options] those of `ctest`, and:
 * @param {(quiet: import('./steps.js').Quiet) => Promise<void>} [options.before] makes such programs run here
 * @returns {import('./steps.js').Step}
 */
export const uvbatchWithMusl = (processor, { before, ...options } = {}) => ({
  title: `libuvbatch, ${processor} with musl`,
  run: async (quiet) => {
    await before?.(quiet);
    const name = `${processor}-linux-musl`;
    const args = await cmakeFor(name, quiet);
    const libuv = withLibuv(await newestLibuv(quiet, { name, args }));
    const all = [...args, libuv, '-DUVBATCH_SHARED=OFF'];
    await build('c', undefined, quiet, { args: all, folder: name });
    return ctest('c', name, quiet, options);
  },
});

/** Builds libuvbatch with its tests, benchmarks and examples. */
export const uvbatch = {
  title: 'build of libuvbatch',
  run: async (quiet) => {
    // The benchmarks use epoll.
    const bench = process.platform === 'linux' ? 'ON' : 'OFF';
    const args = [withLibuv(), `-DUVBATCH_BENCH=${bench}`, '-DUVBATCH_EXAMPLES=ON'];
    await build('c', undefined, quiet, { args });
  },
};

/**
 * A step that runs each fuzz target of libuvbatch, with libFuzzer where clang is there, otherwise with a plain driver. What
 * libFuzzer learns is kept for the next time.
 *
 * @param {number} seconds for each
 * @returns {import('./steps.js').Step}
 */
export const uvbatchFuzz = (seconds) => ({
  title: 'fuzz of libuvbatch',
  run: async (quiet) => {
    const preset = find('clang') ? 'fuzz-clang' : 'fuzz';
    await build('c', preset, quiet, { args: [withLibuv()], target: 'fuzz' });
    const folder = folderOf('c', preset);
    const targets = readdirSync(join(folder, 'fuzz'));
    for (const target of targets) {
      const learnt = join(projectCache, 'corpus', target);
      mkdirSync(learnt, { recursive: true });
      const args = [`-max_total_time=${seconds}`, learnt, join(root, 'conformance/vectors')];
      const options = { cwd: folder, timeoutMs: (seconds + 300) * 1000 };
      await quiet(join(folder, 'fuzz', target), args, options);
    }
    return `${targets.join(', ')}: ${seconds} s each, ${preset}`;
  },
});

/** The argument with which CMake finds libuv. */
function withLibuv(folder = prefix('libuv1-dev')) {
  if (!folder) throw new Skip('needs libuv; on Debian: apt-get install libuv1-dev');
  return `-DCMAKE_PREFIX_PATH=${folder}`;
}

/** The environment in which CMake finds programs that were unpacked. */
function environment() {
  const programs = ['clang', 'pkg-config'].map(find).filter(Boolean);
  const path = [process.env.PATH, ...programs.map(dirname)];
  return { ...process.env, PATH: path.join(delimiter) };
}
