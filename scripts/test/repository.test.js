/** Rules about the files of the repository. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { files } from '../lib/files.js';
import { read, root } from '../lib/paths.js';
import { versions } from '../lib/versions.js';
import { folders } from '../plan.js';

const MAX_BYTES = 1024 * 1024;

const paths = files('.');
const named = (name) => paths.filter((path) => basename(path) === name);
/** The packages of all lock files: the lock file, the place of the package in it, and its entry. */
const locked = named('package-lock.json').flatMap((path) =>
  Object.entries(JSON.parse(read(path)).packages).map(([place, entry]) => ({ path, place, entry })),
);

test('lock files name no registry', () => {
  const wrong = locked.filter(({ entry }) => /^https?:/.test(entry.resolved));
  assert.ok(locked.length > 500);
  assert.deepEqual(
    wrong.map(({ path, place }) => `${path}: ${place}`),
    [],
  );
});

test('each package with an install script is allowed to run it, or not', () => {
  const undecided = locked.filter(({ path, place, entry }) => {
    const { allowScripts = {} } = JSON.parse(read(path.replace('package-lock', 'package')));
    const name = nameForNpm(place);
    return entry.hasInstallScript && name !== undefined && !(name in allowScripts);
  });
  assert.deepEqual(
    undecided.map(({ path, place }) => `${path}: ${place}`),
    [],
  );
});

/** What npm calls a package when it asks about its scripts; undefined for a workspace, whose scripts always run. */
function nameForNpm(place) {
  if (place.includes('node_modules/')) return place.split('node_modules/').at(-1);
  return place.startsWith('../') ? `file:${place}` : undefined;
}

test('all parts have one version', () => {
  const all = versions();
  assert.equal(new Set(Object.values(all)).size, 1, JSON.stringify(all));
});

test('each published package and Go module has the license', () => {
  const own = [
    ...named('package.json')
      .map(dirname)
      .filter((path) => /^packages\/[^/]+$/.test(path)),
    ...named('go.mod')
      .map(dirname)
      .filter((path) => path !== 'bench/go'),
  ];
  assert.ok(own.length > 8);
  for (const folder of own) assert.equal(read(`${folder}/LICENSE`), read('LICENSE'), folder);
});

test('workflows use actions of others by a full commit, with the release in a comment', () => {
  const workflows = paths.filter((path) => path.startsWith('.github/workflows/'));
  const used = workflows.flatMap((path) =>
    [...read(path).matchAll(/^\s*(?:- )?uses:\s*(.+)$/gm)].map(([, action]) => action),
  );
  const pinned = /^\.\/|^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
  assert.ok(used.length > 5);
  assert.deepEqual(
    used.filter((action) => !pinned.test(action)),
    [],
  );
});

test('no file is bigger than 1 MiB', () => {
  const big = paths.filter((path) => statSync(join(root, path)).size > MAX_BYTES);
  assert.deepEqual(big, []);
});

test('a suite of make check-all runs each test file and each Go module', () => {
  const isTested = (path) => folders.some((folder) => path.startsWith(`${folder}/`));
  const tests = paths.filter((path) => /(\.test\.js|_test\.go)$/.test(path));
  assert.ok(tests.length > 300);
  // The tests of a Go module are those in its folder, without the modules inside.
  const modules = named('go.mod').map(dirname);
  assert.deepEqual(
    [
      ...tests.filter((path) => !isTested(path)),
      ...modules.filter((each) => !folders.includes(each)),
    ],
    [],
  );
});
