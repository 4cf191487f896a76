/** The steps of libuvbatch. Where libuv cannot be had, they are skipped. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { find, prefix, provide } from '../debian.js';
import { build, ctest, variant } from './cmake.js';
import { newestLibuv } from './libuv.js';
import { projectCache, root } from './paths.js';
import { skip } from './skip.js';

const source = 'c';
const folder = 'c/build';

/** Builds the libraries with their tests, benchmarks and examples; CMake knows whether there is anything to do. */
export const uvbatch = {
  title: 'build of libuvbatch',
  run: async (quiet) => {
    await provide('libuv1-dev', quiet).catch(() => {});
    // One test uses it, and says when it is missing.
    await provide('pkg-config', quiet).catch(() => {});
    return withLibuv((libuv) => {
      const settings = {
        ...libuv,
        UVBATCH_BENCH: process.platform === 'linux' ? 'ON' : 'OFF',
        UVBATCH_EXAMPLES: 'ON',
      };
      return build({ source, folder, settings }, quiet);
    });
  },
};

/**
 * A step that runs the tests of libuvbatch.
 *
 * @param {string} title
 * @param {Parameters<typeof ctest>[1]} [options]
 * @returns {import('./steps.js').Step & { folder: string }}
 */
export function uvbatchTests(title, options = {}) {
  return {
    title,
    folder: 'c/test',
    run: (quiet) => withLibuv(() => ctest(folder, { parallel: 2, ...options }, quiet)),
  };
}

/**
 * A step that builds a project which uses libuvbatch, and runs its tests.
 *
 * @param {string} title
 * @param {string} project its folder
 * @returns {import('./steps.js').Step}
 */
export function uvbatchProject(title, project) {
  const into = `${project}/build`;
  return {
    title,
    run: (quiet) =>
      withLibuv(async (settings) => {
        await build({ source: project, folder: into, settings }, quiet);
        return ctest(into, {}, quiet);
      }),
  };
}

/**
 * A step that builds libuvbatch and its tests once more, and runs the tests.
 *
 * @param {Pick<Parameters<typeof variant>[0], 'title' | 'name' | 'compiler' | 'flags'>} what
 * @param {object} [options]
 * @param {boolean} [options.newest] with the newest libuv, in place of that of the system
 * @returns {import('./steps.js').Step}
 */
export function uvbatchBuild(what, { newest = false } = {}) {
  return {
    title: what.title,
    run: (quiet) =>
      (newest ? withNewestLibuv : withLibuv)(
        (libuv) =>
          variant({
            ...what,
            source,
            // Tests with the shared library are programs of users, who know of no sanitizer.
            settings: { ...libuv, UVBATCH_EXAMPLES: 'ON', UVBATCH_SHARED: 'OFF' },
            tests: { parallel: 2, seconds: 300 },
          }).run(quiet),
        quiet,
      ),
  };
}

/**
 * A step that runs each fuzz target of libuvbatch: with libFuzzer where clang has it, otherwise with a plain driver. What
 * libFuzzer learns is kept for the next time.
 *
 * @param {number} seconds for each
 * @returns {import('./steps.js').Step}
 */
export function uvbatchFuzz(seconds) {
  const place = join(projectCache, 'uvbatch-fuzz');
  return {
    title: 'fuzz of libuvbatch',
    run: (quiet) =>
      withLibuv(async (libuv) => {
        const compiler = libFuzzer();
        const settings = { ...libuv, UVBATCH_FUZZ: 'ON', UVBATCH_TESTS: 'OFF' };
        await build({ source, folder: place, compiler, settings, target: 'fuzz' }, quiet);
        const targets = readdirSync(join(place, 'fuzz'));
        for (const target of targets) {
          const learnt = join(place, 'corpus', target);
          mkdirSync(learnt, { recursive: true });
          const args = [`-max_total_time=${seconds}`, learnt, join(root, 'conformance/vectors')];
          await quiet(join(place, 'fuzz', target), args, {
            cwd: place,
            timeoutMs: (seconds + 300) * 1000,
          });
        }
        const means = compiler ? 'libFuzzer' : 'the plain driver';
        return { note: `${targets.join(', ')}: ${seconds} s each, with ${means}` };
      }),
  };
}

/** The path of a clang that has libFuzzer, which Debian has in a package of its own; or undefined. */
function libFuzzer() {
  const clang = find('clang');
  const input = 'int LLVMFuzzerTestOneInput(const char* data, long size) { return !data && size; }';
  const args = ['-fsanitize=fuzzer,address', '-o', '/dev/null', '-x', 'c', '-'];
  return clang && spawnSync(clang, args, { input }).status === 0 ? clang : undefined;
}

/** Does some work, given the settings for CMake. */
async function withLibuv(work) {
  const libuv = prefix('libuv1-dev');
  if (!libuv) return skip('needs libuv; on Debian: apt-get install libuv1-dev');
  return work(settingsFor(libuv));
}

/** The same with the newest libuv. */
async function withNewestLibuv(work, quiet) {
  const libuv = await newestLibuv(quiet);
  if (!libuv) return skip('the sources of the newest libuv come by cargo 1.82 or newer');
  return work(settingsFor(libuv));
}

function settingsFor(libuv) {
  const pkgConfig = find('pkg-config');
  return {
    CMAKE_PREFIX_PATH: libuv,
    UVBATCH_NODE: process.execPath,
    ...(pkgConfig && { PKG_CONFIG_EXECUTABLE: pkgConfig }),
  };
}
