/**
 * The npm package `@millrace/source`: the C of the addon, for `millrace build`. Its files lie as in the repository, so that each path in
 * `binding.gyp` is right in both. At the root of a package npm would find `binding.gyp`, and compile it when it is installed.
 */
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { read, root } from './paths.js';
import { prebuilds } from './platform-package.js';

const addon = 'packages/millrace/addon';
const sources = [
  ...['c/include', 'c/src', `${addon}/include`, `${addon}/src`],
  ...[`${addon}/binding.gyp`, `${addon}/sources.cjs`],
];

/**
 * Writes the package, ready to be packed or published.
 *
 * @param {string} [folder] of the package
 * @returns {string} the folder
 */
export function writeSourcePackage(folder = join(prebuilds, 'source')) {
  const { version, license } = JSON.parse(read('packages/millrace/package.json'));
  const manifest = {
    name: '@millrace/source',
    version,
    description: 'The C of the addon of millrace',
    license,
    files: ['c', 'packages'],
    // A compiler reads no archive.
    preferUnplugged: true,
  };
  const text = [
    `# ${manifest.name}`,
    '',
    `${manifest.description}. \`npx millrace build\` fetches and compiles it; there is nothing here to import.`,
    '',
    'MIT',
    '',
  ];
  rmSync(folder, { recursive: true, force: true });
  for (const path of sources) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  // `sources.cjs` reads the version of the addon there.
  writeFileSync(join(folder, 'packages/millrace/package.json'), JSON.stringify({ version }));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), text.join('\n'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}
