/**
 * What binding.gyp compiles: `node addon/sources.cjs` prints the C sources, with `--include` the folders of their
 * headers. libuvbatch is in `deps/uvbatch` of the published package, and in `../c` of the repository.
 */
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const library = existsSync(join(root, 'deps/uvbatch')) ? 'deps/uvbatch' : '../c';

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return entry.name.endsWith('.c') ? [path] : [];
    });
}

const include = process.argv[2] === '--include';
const list = include
  ? [`${library}/include`, `${library}/src`]
  : [...sources(`${library}/src`), ...sources('addon/src')];
console.log(list.join('\n'));
