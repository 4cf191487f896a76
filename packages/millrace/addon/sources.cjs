/**
 * Sources of the addon, for binding.gyp and for the prebuilt ones: `node sources.cjs` prints the C sources, with
 * `--include` the folders of their headers, with `--version` the version of the package. Paths are relative to this folder.
 */
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

/** Folder of libuvbatch, in the repository as in the package `@millrace/source`. */
const library = '../../../c';

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

module.exports = { includes, allSources };
