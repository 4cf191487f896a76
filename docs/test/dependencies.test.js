/** Each package that is depended on has a row that says why, and no row is of a package that nobody needs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../scripts/lib/files.js';
import { read } from '../../scripts/lib/paths.js';

const page = 'docs/project/dependencies.md';
const kinds = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];
/** Those of others' tests are listed there. */
const others = 'packages/millrace/test-peers/';
const manifests = files('.').filter(
  (path) => /(^|\/)package\.json$/.test(path) && !path.startsWith(others),
);
const needed = manifests.flatMap((path) => {
  const manifest = JSON.parse(read(path));
  return kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
});
/** The names in the first cells of the table. */
const rows = read(page)
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...line.split('|')[1].matchAll(/`([^`]+)`/g)].map(([, name]) => name));

test(`${page} has a row for each package that a package.json names`, () => {
  assert.ok(manifests.length > 5, String(manifests));
  const isOwn = (name) => /^(millrace$|@millrace\/)/.test(name);
  const missing = needed.filter((name) => !isOwn(name) && !rows.includes(name));
  assert.deepEqual([...new Set(missing)], []);
});

test(`${page} has no row for a package that none names`, () => {
  const unneeded = rows.filter((name) => !needed.includes(name));
  assert.deepEqual(unneeded, []);
});
