/**
 * Runs an image as an engine would, by crun: namespaces of its own for processes, mounts, host name and IPC, a read-only root, no
 * capabilities, no new privileges, limits by control groups. The network is that of this machine: there is nothing to route to.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command } from './command.js';
import { group } from './groups.js';

const tmpfs = (destination, options = []) => ({
  ...{ destination, type: 'tmpfs', source: 'tmpfs' },
  options: ['nosuid', ...options],
});

const MOUNTS = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  // With the control groups: an application should see its limits.
  { destination: '/sys', type: 'bind', source: '/sys', options: ['rbind', 'ro'] },
  tmpfs('/dev', ['mode=755', 'size=64k']),
  tmpfs('/dev/shm', ['nodev', 'mode=1777', 'size=64m']),
  tmpfs('/tmp', ['nodev', 'mode=1777', 'size=64m']),
  tmpfs('/data', ['nodev', 'mode=1777', 'size=64m']),
];

/**
 * Enters the groups whose files come before `--`, and becomes what comes after, which sees no second version of control groups
 * beside the first.
 */
const ENTER = `while [ "$1" != -- ]; do echo $$ > "$1" || exit 1; shift; done
shift
umount /sys/fs/cgroup/unified 2> /dev/null
exec "$@"`;

/** Configuration of an image for crun, see the runtime specification of the OCI. */
async function specification({ storage, tag, rootfs, args, env }) {
  const inspected = JSON.parse(
    await command('buildah', [...storage, 'inspect', '--type', 'image', tag]),
  );
  const { User, Env, Entrypoint, WorkingDir } = inspected.OCIv1.config;
  const [uid, gid] = User.split(':').map(Number);
  const none = Object.fromEntries(
    ['bounding', 'effective', 'inheritable', 'permitted', 'ambient'].map((name) => [name, []]),
  );
  return {
    ociVersion: '1.0.0',
    process: {
      user: { uid, gid },
      args: [...Entrypoint, ...args],
      env: [...Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: WorkingDir,
      capabilities: none,
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    hostname: 'container',
    mounts: MOUNTS,
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts'].map((type) => ({ type })),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys'],
    },
  };
}

/**
 * Prepares a container of an image.
 *
 * @param {object} options
 * @param {string[]} options.storage flags of buildah
 * @param {string} options.tag of the image
 * @param {string} options.place a folder for what it needs
 * @param {string[]} [options.args] of the application
 * @param {Record<string, string>} [options.env] added to that of the image
 * @param {number} [options.cpus] at most, may be a fraction
 * @param {number} [options.memoryMb] at most
 * @returns {Promise<{ command: string[], exec: (args: string[]) => string[], remove: () => Promise<void> }>} the command that
 *   runs it in the foreground, once, and hands on signals; one that runs something else in it
 */
export async function container({
  storage,
  tag,
  place,
  args = [],
  env = {},
  cpus = 2,
  memoryMb = 512,
}) {
  const name = `millrace-${randomUUID()}`;
  const working = await command('buildah', [...storage, 'from', '--pull-never', tag]);
  const rootfs = await command('buildah', [...storage, 'mount', working]);
  for (const { destination } of MOUNTS) await mkdir(join(rootfs, destination), { recursive: true });
  const bundle = join(place, name);
  await mkdir(bundle, { recursive: true });
  const config = await specification({ storage, tag, rootfs, args, env });
  await writeFile(join(bundle, 'config.json'), JSON.stringify(config));
  const { uid, gid } = config.process.user;
  const user = `${uid}:${gid}`;
  const limits = await group(name, { cpus, memoryMb, tasks: 64 });
  const files = limits.folders.map((folder) => join(folder, 'cgroup.procs'));
  const crun = ['crun', '--root', join(place, 'crun'), '--cgroup-manager', 'disabled'];
  return {
    command: [
      ...['unshare', '--mount', 'sh', '-c', ENTER, 'sh'],
      ...files,
      '--',
      ...crun,
      'run',
      '--bundle',
      bundle,
      name,
    ],
    exec: (words) => [
      ...['unshare', '--mount', 'sh', '-c', ENTER, 'sh', '--'],
      ...crun,
      'exec',
      '--user',
      user,
      '--cwd',
      config.process.cwd,
      name,
      ...words,
    ],
    async remove() {
      await command(crun[0], [...crun.slice(1), 'delete', '--force', name]).catch(() => {});
      await limits.remove();
      await command('buildah', [...storage, 'rm', working]);
      await rm(bundle, { recursive: true, force: true });
    },
  };
}
