/**
 * Before `npm pack` in the repository: gives the package what only the published one has. That is a copy of libuvbatch, for those who
 * compile the addon themselves, and in its `package.json` the packages of the platforms: in a clone there are none of its version to
 * install. With `--clean`, after it: takes both away.
 */
const { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { inRepository } = require('./sources.cjs');

const root = join(__dirname, '..');
const manifest = join(root, 'package.json');
const before = '  "devDependencies"';

/** The lines of `package.json` that only the published one has. */
function dependencies() {
  const { platforms } = require('../dist/native/platforms.cjs');
  const { version } = require('../package.json');
  const lines = platforms.map((name) => `    "@millrace/${name}": "${version}"`);
  return `  "optionalDependencies": {\n${lines.join(',\n')}\n  },\n`;
}

/** Other processes may read the file at any time. */
function rewrite(text) {
  writeFileSync(`${manifest}.new`, text);
  renameSync(`${manifest}.new`, manifest);
}

function clean() {
  rmSync(join(root, 'deps'), { recursive: true, force: true });
  const text = readFileSync(manifest, 'utf8');
  const without = text.replace(/^ {2}"optionalDependencies": \{[^}]*\},\n/m, '');
  if (without !== text) rewrite(without);
}

function prepare() {
  for (const path of ['dist/index.js', 'dist/uplot/LICENSE']) {
    if (existsSync(join(root, path))) continue;
    console.error(`millrace: ${path} is missing; run npm run build first`);
    process.exit(1);
  }
  for (const folder of ['include', 'src']) {
    cpSync(join(root, '../../c', folder), join(root, 'deps/uvbatch', folder), { recursive: true });
  }
  rewrite(readFileSync(manifest, 'utf8').replace(before, dependencies() + before));
}

if (inRepository) {
  clean();
  if (process.argv[2] !== '--clean') prepare();
}
