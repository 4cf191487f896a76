import { join } from 'node:path';
import { find } from '../debian.js';
import { projectCache } from './paths.js';
import { skip } from './skip.js';

/**
 * A step that builds the load generator and its C tests once more, in a folder of their own, runs the tests, and lets
 * the generator load its bare server.
 *
 * @param {object} build
 * @param {string} build.title
 * @param {'cc' | 'clang'} build.compiler `cc` is the one that everything is built with
 * @param {string} build.flags for compiling and linking; the warnings of CMakeLists.txt come on top
 * @returns {import('./steps.js').Step}
 */
export function generatorBuild({ title, compiler, flags }) {
  return {
    title,
    run: async (quiet) => {
      const path = compiler === 'cc' ? process.env.CC || 'cc' : find(compiler);
      if (!path) return skip(`needs ${compiler}`);
      const folder = join(projectCache, `generator-${compiler}`);
      await quiet('cmake', [
        ...['-S', 'lab/load', '-B', folder],
        ...[`-DCMAKE_C_COMPILER=${path}`, `-DCMAKE_C_FLAGS=${flags}`, '-DCMAKE_BUILD_TYPE=None'],
      ]);
      await quiet('cmake', ['--build', folder, '--parallel', '2']);
      await quiet('ctest', ['--test-dir', folder, '--no-tests=error', '--output-on-failure']);
      await quiet(process.execPath, ['lab/soak/bare.js', folder]);
    },
  };
}
