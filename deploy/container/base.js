/**
 * Base images made of this machine, for where no registry is reached. The one that builds has nothing but links: its /usr is that of
 * this machine, mounted for each RUN. The one that runs has Node.js, the libraries that it loads, and certificates.
 */
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { command } from './command.js';

const LINKS = ['bin', 'lib', 'lib64', 'sbin'];

/** Files of this machine's configuration that a build reads. */
const SETTINGS = [
  'alternatives',
  'group',
  'hosts',
  'nsswitch.conf',
  'passwd',
  'resolv.conf',
  'ssl',
];

/** Belong to libc, and are in any image that has it: addons of others want them, and names are looked up by them. */
const OF_LIBC = ['librt.so.1', 'libresolv.so.2', 'libnss_dns.so.2', 'libnss_files.so.2'];

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** The mounts that the image for building needs. */
export const mounts = ['/usr:/usr:ro'];

/** @param {string[]} storage flags of buildah */
export const buildBase = (storage) =>
  image(storage, 'localhost/millrace-build', async (folder) => {
    for (const name of LINKS) await symlink(`usr/${name}`, join(folder, name));
    for (const name of ['usr', 'tmp', 'root', 'etc']) await mkdir(join(folder, name));
    for (const name of SETTINGS) {
      const to = join(folder, 'etc', name);
      // What they link to is in /usr, and is there in the image, too.
      await cp(join('/etc', name), to, {
        recursive: true,
        verbatimSymlinks: name !== 'resolv.conf',
      }).catch(absent);
    }
  });

/** @param {string[]} storage flags of buildah */
export const runBase = (storage) =>
  image(storage, 'localhost/millrace-run', async (folder) => {
    const libraries = (await command('ldd', [process.execPath])).match(/\/\S+(?= \()/g);
    const place = dirname(libraries.find((path) => path.includes('/libc.so')));
    const others = OF_LIBC.map((name) => join(place, name));
    for (const path of [...libraries, ...others, CERTIFICATES]) {
      await copy(path, join(folder, path)).catch(absent);
    }
    await copy(process.execPath, join(folder, 'usr/bin/node'));
    await mkdir(join(folder, 'tmp'), { mode: 0o1777 });
  });

/** Makes an image of one layer of what `fill` puts into a folder. @returns {Promise<string>} its name */
async function image(storage, name, fill) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-image-'));
  const context = join(folder, 'context');
  const tree = join(context, 'root');
  try {
    await mkdir(tree, { recursive: true });
    await fill(tree);
    const file = join(folder, 'Dockerfile');
    await writeFile(file, 'FROM scratch\nENV PATH=/usr/local/bin:/usr/bin:/bin\nCOPY root /\n');
    await command('buildah', [
      ...storage,
      'bud',
      '--isolation',
      'chroot',
      '-f',
      file,
      '-t',
      name,
      context,
    ]);
    return name;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copy(from, to) {
  await mkdir(dirname(to), { recursive: true });
  await writeFile(to, await readFile(from), { mode: 0o755 });
}

function absent(error) {
  if (error.code !== 'ENOENT') throw error;
}
