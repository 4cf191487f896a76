import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { files } from './files.js';
import { brokenLinks } from './links.js';
import { read, root } from './paths.js';
import { malformedVectors } from './vectors.js';
import { versions } from './versions.js';
import { movableActions } from './workflows.js';

const MAX_BYTES = 1024 * 1024;

/** Each check is given every file of the repository, and returns what is wrong, a line for each. */
const checks = {
  lockFilesNameNoRegistry(paths) {
    return named(paths, 'package-lock.json').flatMap((path) =>
      packagesOf(path)
        .filter(([, { resolved }]) => /^https?:/.test(resolved))
        .map(([name, { resolved }]) => `${path}: ${name} is resolved to ${resolved}`),
    );
  },

  installScriptsAreDecided(paths) {
    return named(paths, 'package-lock.json').flatMap((path) => {
      const { allowScripts = {} } = JSON.parse(read(path.replace('package-lock', 'package')));
      return packagesOf(path)
        .filter(([, { hasInstallScript }]) => hasInstallScript)
        .map(([place]) => nameForNpm(place))
        .filter((name) => name !== null && !(name in allowScripts))
        .map((name) => `${path}: allowScripts says nothing about ${name}`);
    });
  },

  vectorsAreWellFormed(paths) {
    const vectors = paths.filter((path) => path.endsWith('.vec'));
    return vectors.length > 0 ? malformedVectors(vectors) : ['conformance/vectors is empty'];
  },

  linksResolve(paths) {
    return brokenLinks(paths.filter((path) => path.endsWith('.md')));
  },

  versionsAgree() {
    const all = Object.entries(versions());
    const [[, expected]] = all;
    return all
      .filter(([, version]) => version !== expected)
      .map(([path, version]) => `${path} says ${version}, and ${all[0][0]} ${expected}`);
  },

  licensesAreThere(paths) {
    const ofPackages = named(paths, 'package.json')
      .map(dirname)
      .filter((path) => /^packages\/[^/]+$/.test(path));
    const own = [...ofPackages, ...named(paths, 'go.mod').map(dirname)].filter(
      (folder) => folder !== 'bench/go',
    );
    return own
      .map((folder) => `${folder}/LICENSE`)
      .filter((path) => !paths.includes(path) || read(path) !== read('LICENSE'))
      .map((path) => `${path} is not the LICENSE of the project`);
  },

  actionsStayWhatTheyAre(paths) {
    return movableActions(paths.filter((path) => path.startsWith('.github/workflows/')));
  },

  filesAreSmall(paths) {
    return paths
      .filter((path) => statSync(join(root, path)).size > MAX_BYTES)
      .map((path) => `${path} is bigger than 1 MiB`);
  },

  everyTestFileIsRun(paths, tested) {
    // The tests of a Go module are those in its folder, without the modules inside.
    const modules = named(paths, 'go.mod').map(dirname);
    const untested = (folder) => !tested.includes(folder);
    return paths
      .filter((path) => /(\.test\.js|_test\.go)$/.test(path))
      .filter((path) => !tested.some((folder) => path.startsWith(`${folder}/`)))
      .concat(modules.filter(untested))
      .map((path) => `${path} is in none of the folders that are tested`);
  },
};

/**
 * The step that does all the checks; each counts as one.
 *
 * @param {string[]} tested folders whose tests are run
 * @returns {import('./steps.js').Step}
 */
export function repository(tested) {
  return {
    title: 'checks of the repository',
    run: async () => {
      const paths = files('.');
      const results = Object.values(checks).map((check) => check(paths, tested));
      const failed = results.filter((wrong) => wrong.length > 0).length;
      const passed = results.length - failed;
      const note = `${passed} passed${failed > 0 ? `, ${failed} FAILED` : ''}`;
      return { note, passed, failed, details: results.flat() };
    },
  };
}

const named = (paths, name) => paths.filter((path) => basename(path) === name);

const packagesOf = (path) => Object.entries(JSON.parse(read(path)).packages);

/** What npm calls a package of a lock file when it asks about its scripts; null for a workspace, whose scripts always run. */
function nameForNpm(place) {
  if (place.includes('node_modules/')) return place.split('node_modules/').at(-1);
  return place.startsWith('../') ? `file:${place}` : null;
}
