/**
 * The kernel's files about this process, read by hand: the CPUs and the memory of the machine, and its control groups: which ones it is
 * in, where their folders are, and what those limit. A process is bound by its own group and by each group above that, so all of them are
 * looked at, up to the root of the mount. The files are in memory, so they are read on the spot. Tests put a folder in the place of `/`.
 */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Null if it is not there or may not be read: then it says nothing. */
export function readText(root: string, ...path: string[]): string | null {
  try {
    return readFileSync(join(root, ...path), 'utf8');
  } catch {
    return null;
  }
}

/** CPU numbers of a list like `0-3,8`; null if it is not one. */
export function parseCpuList(text: string): number[] | null {
  const cpus: number[] = [];
  for (const range of text.trim().split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(range.trim());
    if (match === null) return null;
    const first = Number(match[1]);
    const last = Number(match[2] ?? first);
    for (let cpu = first; cpu <= last; cpu++) cpus.push(cpu);
  }
  return cpus;
}

/** CPUs on which the scheduler may put this process, out of `/proc/self/status`; null if that does not say. */
export function allowedCpus(root: string): number[] | null {
  const list = /^Cpus_allowed_list:\s*(.+)$/m.exec(readText(root, 'proc/self/status') ?? '')?.[1];
  return list === undefined ? null : parseCpuList(list);
}

/** Bytes in a line of `/proc/meminfo`; null if it is not there. */
export function memoryInfo(root: string, name: string): number | null {
  const lines = readText(root, 'proc/meminfo') ?? '';
  const kibi = new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(lines)?.[1];
  return kibi === undefined ? null : Number(kibi) * 1024;
}

// ---- control groups

/** A line of `/proc/self/cgroup`. */
interface Membership {
  /** Of version 1; empty for version 2. */
  readonly controllers: readonly string[];
  readonly path: string;
}

/** A mounted hierarchy, out of `/proc/self/mountinfo`. */
interface CgroupMount {
  readonly version: 1 | 2;
  /** The group that is at `mountPoint`. */
  readonly root: string;
  readonly mountPoint: string;
  /** Controllers of version 1, among other mount options. */
  readonly options: readonly string[];
}

export function parseMemberships(text: string): Membership[] {
  const memberships: Membership[] = [];
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    if (match === null) continue;
    const [, controllers = '', path = '/'] = match;
    memberships.push({ controllers: controllers === '' ? [] : controllers.split(','), path });
  }
  return memberships;
}

export function parseMounts(text: string): CgroupMount[] {
  const mounts: CgroupMount[] = [];
  for (const line of text.split('\n')) {
    const [before = '', after] = line.split(' - ');
    const [, , , root, mountPoint] = before.split(' ');
    const [type, , options = ''] = after?.split(' ') ?? [];
    if (root === undefined || mountPoint === undefined) continue;
    if (type !== 'cgroup' && type !== 'cgroup2') continue;
    mounts.push({
      version: type === 'cgroup' ? 1 : 2,
      root: withBlanks(root),
      mountPoint: withBlanks(mountPoint),
      options: options.split(','),
    });
  }
  return mounts;
}

/** The kernel writes blanks and backslashes of a path as octal numbers. */
const withBlanks = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));

/** The way from the group that is mounted to one in it; null if it is not in it. */
function wayTo({ root }: CgroupMount, path: string): string | null {
  const way = posix.relative(root, path);
  return leavesNamespace(path) || leavesNamespace(root) || leadsOut(way) ? null : way;
}

const leadsOut = (way: string): boolean => way === '..' || way.startsWith('../');
/** The path of a group outside the namespace of the process begins like this. */
const leavesNamespace = (path: string): boolean => leadsOut(path.slice(1));

/**
 * Reports whether the mounted root is the best guess, because names of groups do not say where the process is: it sees its
 * mount or its group from another namespace, in which the root is its own group.
 */
const isOfNamespace = ({ root }: CgroupMount, path: string): boolean =>
  path === '/' || leavesNamespace(root) || leavesNamespace(path);

/** Folders of a group and of those above it, from the group to the root of the mount; none if it cannot be seen there. */
export function groupFolders(mount: CgroupMount, path: string): string[] {
  const { mountPoint } = mount;
  const way = wayTo(mount, path);
  if (way === null && !isOfNamespace(mount, path)) return [];
  const folders: string[] = [];
  let folder = posix.join(mountPoint, way ?? '');
  while (folder !== mountPoint && folder.length > mountPoint.length) {
    folders.push(folder);
    folder = posix.dirname(folder);
  }
  folders.push(mountPoint);
  return folders;
}

/** A group in which the process is, with the ones that are above it after it. */
interface Hierarchy {
  readonly version: 1 | 2;
  readonly folders: readonly string[];
}

/** Hierarchies that have a controller: of version 2 whichever there is, of version 1 the controller's. */
export function hierarchies(root: string, controller: string): Hierarchy[] {
  const mounts = parseMounts(readText(root, 'proc/self/mountinfo') ?? '');
  const found: Hierarchy[] = [];
  for (const { controllers, path } of parseMemberships(readText(root, 'proc/self/cgroup') ?? '')) {
    const version = controllers.length === 0 ? 2 : 1;
    if (version === 1 && !controllers.includes(controller)) continue;
    const of = (mount: CgroupMount) =>
      mount.version === version && (version === 2 || mount.options.includes(controller));
    // It may be mounted more than once; where the group can be seen is the better place.
    const usable = mounts.filter(of);
    const mount =
      usable.find((each) => wayTo(each, path) !== null) ??
      usable.find((each) => isOfNamespace(each, path));
    if (mount !== undefined) found.push({ version, folders: groupFolders(mount, path) });
  }
  return found;
}

/** The positive number in a file; null for `max`, -1, and anything else. */
function positive(text: string | null | undefined): number | null {
  const value = Number(text?.trim() || Number.NaN);
  return value > 0 ? value : null;
}

/** The number in a file about memory; null for `max`, and anything else. 0 is a valid use, and a valid limit. */
function bytesOf(text: string | null): number | null {
  const value = Number(text?.trim() || Number.NaN);
  return value >= 0 ? value : null;
}

/** CPUs that a group allows, a fraction where the quota is one; null for no quota. */
function quotaOf(root: string, folder: string, version: 1 | 2): number | null {
  const [quota, period] =
    version === 2
      ? (readText(root, folder, 'cpu.max')?.trim().split(' ') ?? [])
      : [readText(root, folder, 'cpu.cfs_quota_us'), readText(root, folder, 'cpu.cfs_period_us')];
  const time = positive(quota);
  const of = positive(period);
  return time === null || of === null ? null : time / of;
}

interface CpuGroup {
  /** The least of the quotas, in CPUs. */
  readonly quota: number | null;
  /** CPU time in ms that the group with that quota has used, or without one the process's own group; null if unknown. */
  readonly usedMs: number | null;
}

export function cpuGroup(root: string): CpuGroup {
  let quota: number | null = null;
  let bound: { folder: string; version: 1 | 2; depth: number } | null = null;
  for (const { version, folders } of hierarchies(root, 'cpu')) {
    for (const [depth, folder] of folders.entries()) {
      const cpus = quotaOf(root, folder, version);
      if (cpus === null || (quota !== null && cpus >= quota)) continue;
      quota = cpus;
      bound = { folder, version, depth };
    }
  }
  return { quota, usedMs: bound === null ? null : usedTime(root, bound) };
}

function usedTime(
  root: string,
  { folder, version, depth }: { folder: string; version: 1 | 2; depth: number },
): number | null {
  if (version === 2) {
    const stat = readText(root, folder, 'cpu.stat') ?? '';
    const microseconds = /^usage_usec (\d+)$/m.exec(stat)?.[1];
    return microseconds === undefined ? null : Number(microseconds) / 1000;
  }
  // Often mounted with the quota's controller, but not always: then the group of the same height there.
  const accounts = hierarchies(root, 'cpuacct').find((each) => each.version === 1);
  const account = accounts?.folders[depth];
  const nanoseconds = account === undefined ? null : readText(root, account, 'cpuacct.usage');
  return nanoseconds === null ? null : Number(nanoseconds) / 1e6;
}

interface MemoryGroup {
  readonly limitBytes: number | null;
  /** Used by the group with that limit, its file cache included; without a limit by the process's own group. */
  readonly usedBytes: number | null;
  /** Memory left in the group with the least; file cache that has not been in use lately counts as left. */
  readonly availableBytes: number | null;
}

const memoryFiles = {
  1: {
    limit: 'memory.limit_in_bytes',
    used: 'memory.usage_in_bytes',
    cache: /^total_inactive_file (\d+)$/m,
  },
  2: { limit: 'memory.max', used: 'memory.current', cache: /^inactive_file (\d+)$/m },
};

/** `physicalBytes`: version 1 writes "no limit" as a number that is larger than any memory. */
export function memoryGroup(root: string, physicalBytes: number): MemoryGroup {
  let limitBytes: number | null = null;
  let usedBytes: number | null = null;
  let availableBytes: number | null = null;
  for (const { version, folders } of hierarchies(root, 'memory')) {
    const files = memoryFiles[version];
    for (const folder of folders) {
      const used = bytesOf(readText(root, folder, files.used));
      usedBytes ??= used;
      const limit = bytesOf(readText(root, folder, files.limit));
      if (limit === null || limit >= physicalBytes) continue;
      if (limitBytes === null || limit < limitBytes) {
        limitBytes = limit;
        usedBytes = used;
      }
      if (used === null) continue;
      const cache = Number(files.cache.exec(readText(root, folder, 'memory.stat') ?? '')?.[1] ?? 0);
      const left = Math.min(limit, Math.max(0, limit - used + Math.min(used, cache)));
      if (availableBytes === null || left < availableBytes) availableBytes = left;
    }
  }
  return { limitBytes, usedBytes, availableBytes };
}
