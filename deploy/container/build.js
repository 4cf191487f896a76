/** Builds the Dockerfile without a daemon and without a registry, by buildah, on base images of this machine. It has to be root. */
import { join } from 'node:path';
import { folder, root } from '../test/lib/files.js';
import { buildBase, mounts, runBase } from './base.js';
import { command } from './command.js';

/** Flags of buildah for images that are kept in this folder: its driver needs nothing of the kernel. */
export const storageIn = (place) => [
  ...['--root', join(place, 'storage'), '--runroot', join(place, 'run')],
  ...['--storage-driver', 'vfs'],
];

/**
 * @param {object} options
 * @param {string[]} options.storage of `storageIn`
 * @param {string} options.app folder of the application, relative to the root
 * @param {string} options.main its file
 * @param {string} options.tag
 */
export async function build({ storage, app, main, tag }) {
  const [builds, runs] = [await buildBase(storage), await runBase(storage)];
  const args = { APP: app, MAIN: main, BUILD_IMAGE: builds, RUN_IMAGE: runs };
  await command('buildah', [
    ...storage,
    ...['bud', '--isolation', 'chroot', '--format', 'docker', '--network', 'host'],
    ...['--ignorefile', join(folder, 'Dockerfile.dockerignore'), '-f', join(folder, 'Dockerfile')],
    ...mounts.flatMap((mount) => ['--volume', mount]),
    ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
    ...['-t', tag, root],
  ]);
}
