import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { removeMoved } from '../../packages/lab/load/moved.js';
import { find } from '../debian.js';
import { counted } from './counts.js';
import { projectCache, root } from './paths.js';
import { skip } from './skip.js';

/** Sanitizers are slow, and so is a machine that does other things as well. */
const CTEST_TIMEOUT_MS = 1_200_000;
const SHOWN_LINES = 10;
const ENTITIES = { lt: '<', gt: '>', amp: '&', quot: '"' };

/**
 * Configures a CMake project and builds it.
 *
 * @param {object} project
 * @param {string} project.source folder of its CMakeLists.txt
 * @param {string} project.folder to build in
 * @param {string} [project.compiler] path; without it CMake chooses
 * @param {Record<string, string | number>} [project.settings] variables of CMake
 * @param {string} [project.target] to build in place of everything
 * @param {import('./steps.js').Quiet} quiet
 */
export async function build({ source, folder, compiler, settings = {}, target }, quiet) {
  const all = compiler ? { CMAKE_C_COMPILER: compiler, ...settings } : settings;
  const args = Object.entries(all).map(([name, value]) => `-D${name}=${value}`);
  removeMoved(resolve(root, folder));
  await quiet('cmake', ['-S', source, '-B', folder, ...args]);
  const what = target ? ['--target', target] : [];
  await quiet('cmake', ['--build', folder, '--parallel', '2', ...what]);
}

/**
 * Runs the tests of a project that was built.
 *
 * @param {string} folder it was built in
 * @param {object} options
 * @param {number} [options.parallel] tests at a time
 * @param {number} [options.seconds] that one test may take
 * @param {Record<string, string>} [options.env] added to the environment
 * @param {string[]} [options.args] of ctest
 * @param {import('./steps.js').Quiet} quiet
 * @returns {Promise<import('./steps.js').Result>}
 */
export async function ctest(folder, { parallel = 1, seconds = 60, env = {}, args = [] }, quiet) {
  const report = join(projectCache, `ctest-${process.pid}.xml`);
  const ended = await quiet(
    'ctest',
    [
      ...['--test-dir', folder, '--no-tests=error', '--output-on-failure'],
      ...['--parallel', `${parallel}`, '--timeout', `${seconds}`],
      ...['--output-junit', report, ...args],
    ],
    { env: { ...process.env, ...env }, timeoutMs: CTEST_TIMEOUT_MS },
  ).catch((error) => error);
  try {
    const counts = read(report);
    if (ended && counts.failed === 0) throw ended;
    return counted(counts);
  } catch (error) {
    throw ended ?? error;
  } finally {
    rmSync(report, { force: true });
  }
}

/** A step that runs the tests of a project that was built. */
export function ctestStep(title, folder, options = {}) {
  return { title, run: (quiet) => ctest(folder, options, quiet) };
}

/**
 * A step that builds a project once more, in a folder of its own, and runs its tests there.
 *
 * @param {object} variant
 * @param {string} variant.title
 * @param {string} variant.source folder of its CMakeLists.txt
 * @param {string} variant.name of the folder
 * @param {'cc' | 'clang'} variant.compiler `cc` is the one that everything is built with
 * @param {string} variant.flags for compiling and linking; the warnings of CMakeLists.txt come on top
 * @param {Record<string, string | number>} [variant.settings] variables of CMake
 * @param {Parameters<typeof ctest>[1]} [variant.tests] how they are run
 * @param {(folder: string, quiet: import('./steps.js').Quiet) => Promise<void>} [variant.after] does more with it
 * @returns {import('./steps.js').Step}
 */
export function variant({ title, source, name, compiler, flags, settings, tests = {}, after }) {
  return {
    title,
    run: async (quiet) => {
      const path = compiler === 'cc' ? process.env.CC || 'cc' : find(compiler);
      if (!path) return skip(`needs ${compiler}`);
      const folder = join(projectCache, name);
      const all = { CMAKE_C_FLAGS: flags, CMAKE_BUILD_TYPE: 'None', ...settings };
      await build({ source, folder, compiler: path, settings: all }, quiet);
      const result = await ctest(folder, tests, quiet);
      await after?.(folder, quiet);
      return result;
    },
  };
}

/** What CTest's report in JUnit's form says. A test that did not run has failed, unless it skipped itself. */
function read(report) {
  const counts = { passed: 0, failed: 0, skippedNames: [], failedNames: [], said: [] };
  const pattern = /<testcase name="([^"]*)" [^>]*status="(\w+)"\s*>(.*?)<\/testcase>/gs;
  for (const [, name, status, rest] of readFileSync(report, 'utf8').matchAll(pattern)) {
    if (status === 'run') counts.passed++;
    else if (/^\s*<skipped message="SKIP_/.test(rest)) {
      counts.skippedNames.push([name, ...output(rest).slice(-1)].join(': '));
    } else {
      counts.failed++;
      counts.failedNames.push(name);
      counts.said.push(`failed: ${name}`, ...output(rest).slice(0, SHOWN_LINES));
    }
  }
  return counts;
}

/** The lines that a test printed. */
function output(testcase) {
  const [, escaped = ''] = /<system-out>(.*)<\/system-out>/s.exec(testcase) ?? [];
  const text = escaped.replace(/&(lt|gt|amp|quot);/g, (_, name) => ENTITIES[name]).trim();
  return text ? text.split('\n') : [];
}
