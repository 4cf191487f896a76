/** The npm package of a platform: an addon, and a manifest by which a package manager installs it on that platform alone. */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { read, root } from './paths.js';

const libcs = { gnu: 'glibc', musl: 'musl' };
const systems = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

/** System requirements of the addon, as users know them. */
const needs = {
  gnu: 'glibc 2.28 or newer',
  musl: 'musl 1.2 or newer',
  darwin: 'macOS 11 or newer',
  win32: 'Windows 10 or newer',
};

/** Folder of the platform packages built here. */
export const prebuilds = join(root, 'packages/millrace/prebuilds');

/**
 * Writes a package, ready to be packed or published.
 *
 * @param {string} platform a name of `platforms`
 * @param {string} addon path of the binary
 * @param {string} [folder] of the package
 * @returns {string} the folder
 */
export function writePlatformPackage(platform, addon, folder = join(prebuilds, platform)) {
  const [os, cpu, libc] = platform.split('-');
  const { version, license, engines } = JSON.parse(read('packages/millrace/package.json'));
  const manifest = {
    name: `@millrace/${platform}`,
    version,
    description: `The addon of millrace for ${systems[os]} on ${cpu}${libc ? ` with ${libcs[libc]}` : ''}`,
    license,
    engines,
    os: [os],
    cpu: [cpu],
    ...(libc && { libc: [libcs[libc]] }),
    main: 'millrace.node',
    files: ['millrace.node'],
    // A binary cannot be loaded from an archive.
    preferUnplugged: true,
  };
  const text = [
    `# ${manifest.name}`,
    '',
    `${manifest.description}. It needs ${needs[libc ?? os]}. Install \`millrace\`, which depends on it; there is nothing here to import.`,
    '',
    'MIT',
    '',
  ];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), text.join('\n'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(addon, join(folder, manifest.main));
  return folder;
}
