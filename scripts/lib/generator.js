import { variant } from './cmake.js';

/**
 * A step that builds the load generator and its C tests once more, runs the tests, and lets the generator load its bare
 * server.
 *
 * @param {Pick<Parameters<typeof variant>[0], 'title' | 'compiler' | 'flags'>} build
 * @returns {import('./steps.js').Step}
 */
export function generatorBuild(build) {
  return variant({
    ...build,
    source: 'packages/lab/load',
    name: `generator-${build.compiler}`,
    after: (folder, quiet) => quiet(process.execPath, ['packages/lab/load/test/bare.js', folder]),
  });
}
