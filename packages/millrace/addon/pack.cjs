/**
 * Before `npm pack`: adds the packages of the platforms to `package.json`, as optional dependencies. In a clone there are none of its
 * version to install. With `--clean`, after it: removes them.
 */
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

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
  rewrite(readFileSync(manifest, 'utf8').replace(before, dependencies() + before));
}

clean();
if (process.argv[2] !== '--clean') prepare();
