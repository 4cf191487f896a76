/**
 * Sources of the addon, for binding.gyp and for the prebuilt ones: `node sources.cjs` prints the C sources, with
 * `--include` the folders of their headers, with `--version` the version of the package. Paths are relative to this folder.
 */
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/**
 * libuvbatch is in `c` of the repository, and in `deps/uvbatch` of the published package. The repository comes first:
 * a copy that was left behind there by a failed `npm pack` is of no interest.
 */
const inRepository = existsSync(join(__dirname, '../../../c/include/uv_batch.h'));
const library = inRepository ? '../../../c' : '../deps/uvbatch';

/** Folders of headers. */
const includes = [`${library}/include`, `${library}/src`, 'include', 'src'];

function sources(folder) {
  return readdirSync(join(__dirname, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      return entry.name.endsWith('.c') ? [path] : [];
    });
}

const allSources = () => [...sources(`${library}/src`), ...sources('src')];

const answers = {
  undefined: allSources,
  '--include': () => includes,
  '--version': () => [require('../package.json').version],
};

if (require.main === module) console.log(answers[process.argv[2]]().join('\n'));

module.exports = { inRepository, includes, allSources };
