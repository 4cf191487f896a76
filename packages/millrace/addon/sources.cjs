/**
 * What binding.gyp compiles: `node addon/sources.cjs` prints the C sources, with `--include` the folders of their
 * headers, with `--version` the version of the package.
 */
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');

/**
 * libuvbatch is in `c` of the repository, and in `deps/uvbatch` of the published package. The repository comes first:
 * a copy that was left behind there by a failed `npm pack` is of no interest.
 */
const inRepository = existsSync(join(root, '../../c/include/uv_batch.h'));
const library = inRepository ? '../../c' : 'deps/uvbatch';

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return entry.name.endsWith('.c') ? [path] : [];
    });
}

const answers = {
  undefined: () => [...sources(`${library}/src`), ...sources('addon/src')],
  '--include': () => [`${library}/include`, `${library}/src`],
  '--version': () => [require('../package.json').version],
};

if (require.main === module) console.log(answers[process.argv[2]]().join('\n'));

module.exports = { root, inRepository };
