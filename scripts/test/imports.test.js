/** A package imports what its `package.json` names: what users get with it, and its tests also what only this repository has. */
import assert from 'node:assert/strict';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { files } from '../lib/files.js';
import { read } from '../lib/paths.js';

const all = files('.');
const manifests = new Map(
  all
    .filter((path) => /(^|\/)package\.json$/.test(path))
    .map((path) => [dirname(path), JSON.parse(read(path))]),
);

/** The folders of packages that a file is in, the innermost first; a `package.json` without a name only tells Node.js how to read a file. */
function owners(path) {
  const folder = dirname(path);
  const outer = folder === '.' ? [] : owners(folder);
  return manifests.get(folder)?.name ? [folder, ...outer] : outer;
}

/** Files that users do not get with a package. */
const isOurs = (path) =>
  !path.startsWith('packages/') ||
  /\/test(-[a-z]+)?\/|^packages\/lab\/(experiments|fleet|soak|suite|experiment\/truth)\//.test(
    path,
  );

/** Packages that a file may import. One of ours finds those of the folders around, too, and a script those of every folder. */
function allowed(path) {
  const folders = owners(path);
  if (!isOurs(path)) return named(manifests.get(folders[0]), false);
  const those = folders[0] === '.' ? [...manifests.keys()] : folders;
  return those.flatMap((folder) => named(manifests.get(folder), true));
}

function named({ name, dependencies, peerDependencies, devDependencies }, isTest) {
  return Object.keys({
    [name]: '',
    ...dependencies,
    ...peerDependencies,
    ...(isTest && devDependencies),
  });
}

const specifiers =
  /(?:^(?:import|export) (?:[\w\s{},*$]*? from )?|\b(?:import|require|(?:import\.meta|require)\.resolve)\(\s*)'([\w@][^']*)'/gm;

/** Not what a comment shows. */
const codeOf = (path) => read(path).replace(/^\s*(\*|\/\/).*$/gm, '');

const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

test('each package names what it imports', () => {
  const wrong = new Set();
  let count = 0;
  for (const path of all.filter((each) => /\.[cm]?[jt]s$/.test(each))) {
    const known = allowed(path);
    for (const [, specifier] of codeOf(path).matchAll(specifiers)) {
      const name = packageOf(specifier);
      if (/^\w+:/.test(specifier) || builtinModules.includes(name)) continue;
      count++;
      if (!known.includes(name))
        wrong.add(`${path}: ${join(owners(path)[0], 'package.json')} names no ${name}`);
    }
  }
  assert.ok(count > 1000, `${count} imports`);
  assert.deepEqual([...wrong], []);
});
