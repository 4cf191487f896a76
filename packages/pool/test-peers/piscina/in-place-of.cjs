/**
 * Required before one of piscina's own test files, which stays as it is: what it tests is @millrace/pool then, in its workers too.
 */
const Module = require('node:module');
const { join, sep } = require('node:path');
const { fileURLToPath, pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const tests = `${sep}piscina${sep}test${sep}`;
const pool = require.resolve('@millrace/pool');

const places = {
  '': pool,
  dist: pool,
  'package.json': join(pool, '../../package.json'),
  'dist/common': join(__dirname, 'common.cjs'),
  'dist/symbols': join(__dirname, 'symbols.cjs'),
};

// tsx compiles a copy of what is required once it is there; import() has the module itself, and they are to be the same.
if (isMainThread) require(pool);

/** The file for what a file of the tests asks for; null for what stays as it is. */
function inPlaceOf(request, from) {
  if (!from?.includes(tests)) return null;
  if (request === 'piscina') return pool;
  // tsx tries file names first.
  const [, name] = /^(?:\.\.\/)*\.\.(?:\/|$)(.*?)(?:\.js)?$/.exec(request) ?? [];
  if (name === undefined) return null;
  if (name in places) return places[name];
  throw new Error(`${from} asks for ${request}, in place of which there is nothing`);
}

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) =>
  inPlaceOf(request, parent?.filename) ?? resolveFilename(request, parent, ...rest);

// Later releases have hooks that know of import() as well, and there tsx asks only them.
if (Module.registerHooks) {
  Module.registerHooks({
    resolve(request, context, next) {
      const { parentURL } = context;
      const from = parentURL?.startsWith('file:') ? fileURLToPath(parentURL) : parentURL;
      const path = inPlaceOf(request, from);
      return next(path ? pathToFileURL(path).href : request, context);
    },
  });
} else if (isMainThread) {
  Module.register(pathToFileURL(join(__dirname, 'import.mjs')), { data: pathToFileURL(pool).href });
}
