/** What a module exports is imported by another one, a test at least: anything else is internal, or nobody needs it. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { files } from '../lib/files.js';
import { read, typed } from '../lib/paths.js';

const modules = new Set(files('.').filter((path) => /\.[cm]?[jt]s$/.test(path)));
const extensions = [
  ['.js', '.ts'],
  ['.cjs', '.cts'],
];

const folders = [...typed, 'lab'];
const manifests = folders.map((name) => [
  `packages/${name}`,
  JSON.parse(read(`packages/${name}/package.json`)),
]);

/** The file that the name of one of our packages means: `@millrace/guard/cached`. */
const published = new Map(
  manifests.flatMap(([folder, { name, exports }]) =>
    Object.entries(exports).map(([path, to]) => {
      const file = to.default ?? to.import?.default ?? to;
      return [path.replace('.', name), join(folder, file)];
    }),
  ),
);

/** The module that an import means: of a build, its source. Undefined for a package of others. */
function target(from, specifier) {
  const named = published.get(specifier);
  if (named === undefined && !specifier.startsWith('.')) return undefined;
  const path = (named ?? join(dirname(from), specifier)).replace(
    /^(packages\/\w+)\/dist\//,
    '$1/src/',
  );
  const sources = extensions.map(([built, source]) =>
    path.replace(new RegExp(`\\${built}$`), source),
  );
  return [path, ...sources].find((each) => modules.has(each));
}

const declaration =
  /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) (?:(\w+)|\{([^}]*)\})/gm;
const names = (list) =>
  list
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter(Boolean);

/** Schemas of options, which `packages/base/test/schemas.test.js` imports: all of them, from the build. */
const schema = /^export (?=const \w+ = (?:is\.)?schema\()/gm;

/** Names that a module declares and exports. */
const declared = (text) =>
  [...text.replace(schema, '').matchAll(declaration)].flatMap(([, name, list]) =>
    name === undefined ? names(list).map((each) => each.split(':').at(-1).trim()) : [name],
  );

const statement = /^(?:import|export) (?:type )?([^'";]*?)\s*from '([^']+)'/gm;
const expression = /(?:import|require)\(\s*'([^']+)'\s*\)(?:\)?\.(\w+))?/g;

/** Pairs of a module and a name that a text imports from it; `*` stands for all. */
function imported(path, text) {
  const found = [];
  for (const [, what, specifier] of text.matchAll(statement)) {
    const list = what.match(/\{([^}]*)\}/)?.[1];
    const all = list === undefined ? ['*'] : names(list).map((each) => each.split(' as ')[0]);
    for (const name of all) found.push([target(path, specifier), name]);
  }
  for (const [, specifier, name = '*'] of text.matchAll(expression)) {
    found.push([target(path, specifier), name]);
  }
  return found;
}

/** What `package.json` names for users, whose imports nobody here has. Those of base are for our own packages. */
const entries = new Set(
  manifests
    .filter(([folder]) => folder !== 'packages/base')
    .flatMap(([folder, { exports }]) =>
      [...JSON.stringify(exports).matchAll(/"(\.\/[^"]+\.c?js)"/g)].map(([, path]) =>
        target(`${folder}/package.json`, path),
      ),
    ),
);

/** Folders of files that pass on what a module exports; the module is looked at itself. */
const passing = ['packages/base/src/imports/', 'packages/monitor/src/stalls/imports/'];

test('nothing is exported that nobody imports', () => {
  const used = new Set();
  for (const path of modules) {
    for (const pair of imported(path, read(path))) used.add(pair.join(' '));
  }
  const checked = [...modules].filter(
    (path) =>
      /^packages\/(\w+\/src|lab)\//.test(path) &&
      !/\/test\/|\.test\.js$/.test(path) &&
      !entries.has(path) &&
      !passing.some((folder) => path.startsWith(folder)),
  );
  assert.ok(checked.length > 350, `${checked.length} modules`);
  const unused = checked.flatMap((path) =>
    used.has(`${path} *`)
      ? []
      : declared(read(path))
          .filter((name) => !used.has(`${path} ${name}`))
          .map((name) => `${path}: ${name}`),
  );
  assert.deepEqual(unused, []);
});
