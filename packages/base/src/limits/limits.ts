/**
 * Limits of this process on its machine: the least of affinity, quotas and memory limits, the memory that is left, and in a cluster its
 * share of the CPUs. The primary of the cluster sets the share in the environment of each process, and sends a message when it changes;
 * pools follow it.
 */
import { availableParallelism, freemem, totalmem } from 'node:os';
import { builtin } from '../realm.cjs';
import { throwLater } from '../turn.cjs';
import { allowedCpus, cpuGroup, memoryGroup, memoryInfo } from './kernel.js';

/** Limits of this process on its machine. */
export interface Limits {
  /** CPUs that can be used at a time, not rounded: 1.5 is one and a half. */
  readonly cpus: number;
  /** The lesser of the two: affinity or quota. */
  readonly cpuSource: 'affinity' | 'cgroup';
  /** CPUs on which the process may run (`taskset`, `cpuset`). */
  readonly affinity: number;
  /** The least quota of the control groups in CPUs; null for none. */
  readonly cpuQuota: number | null;
  /** Bytes of memory that can be used. */
  readonly memoryBytes: number;
  readonly memorySource: 'physical' | 'cgroup';
  /**
   * Bytes used in the control group that sets the limit, its file cache included; null if that is not known. Without a
   * limit it is that of the process's own group.
   */
  readonly memoryUsedBytes: number | null;
}

/**
 * Returns the limits of this process: CPUs by its affinity and the quotas of its control groups (`cpu.max`,
 * `cpu.cfs_quota_us`), memory by their limits (`memory.max`, `memory.limit_in_bytes`) and that of the machine. Groups above
 * its own count, too, as far as they can be seen from where it runs. Reads some small files of the kernel on Linux (a
 * fraction of a ms) each time, since limits can change; elsewhere it uses `node:os`.
 */
export function limits(): Limits {
  return limitsOf('/');
}

/** Limits by the files of another root folder, for tests. */
export function limitsOf(root: string): Limits {
  // Newer releases of libuv count quotas in availableParallelism(), in whole CPUs. So it is only asked in second place.
  const affinity = allowedCpus(root)?.length ?? availableParallelism();
  const { quota } = cpuGroup(root);
  const isQuota = quota !== null && quota < affinity;
  const physicalBytes = memoryInfo(root, 'MemTotal') ?? totalmem();
  const { limitBytes, usedBytes } = memoryGroup(root, physicalBytes);
  return {
    cpus: isQuota ? quota : affinity,
    cpuSource: isQuota ? 'cgroup' : 'affinity',
    affinity,
    cpuQuota: quota,
    memoryBytes: limitBytes ?? physicalBytes,
    memorySource: limitBytes === null ? 'physical' : 'cgroup',
    memoryUsedBytes: usedBytes,
  };
}

/** Memory of the container, or of the machine where that has no limit. */
export interface SystemMemory {
  readonly totalBytes: number;
  readonly availableBytes: number;
  /** Bytes in use. */
  readonly usedBytes: number;
}

/** Memory that the process may use, in bytes, and how much of it is left. Reads small files as {@link limits} does; `root` is for tests. */
export function systemMemory(root = '/'): SystemMemory {
  const physical = memoryInfo(root, 'MemTotal') ?? totalmem();
  const free = memoryInfo(root, 'MemAvailable') ?? freemem();
  const group = memoryGroup(root, physical);
  const totalBytes = group.limitBytes ?? physical;
  const availableBytes = Math.min(free, group.availableBytes ?? free);
  return { totalBytes, availableBytes, usedBytes: Math.max(0, totalBytes - availableBytes) };
}

// ---- the share of a process in a cluster

const variable = 'MILLRACE_CPUS';
const key = 'millrace:cpus';

/** The environment variable of a process with this share. */
export const shareVariable = (cpus: number): Record<string, string> => ({
  [variable]: String(cpus),
});

/** The message that tells a process its new share. */
export const shareMessage = (cpus: number): Record<string, number> => ({ [key]: cpus });

/** A number of CPUs; null for anything else. */
function cpusOf(value: unknown): number | null {
  const cpus = typeof value === 'string' ? Number(value) : value;
  return typeof cpus === 'number' && cpus > 0 ? cpus : null;
}

/**
 * CPUs that this process may use, not rounded: the least of its affinity, the quotas of its control groups, and its share
 * in a cluster (environment variable MILLRACE_CPUS; one that is no number above 0 is ignored). Reads small files of the kernel:
 * a fraction of a ms.
 */
export function cpuShare(): number {
  const { cpus } = limits();
  return Math.min(cpus, cpusOf(process.env[variable]) ?? cpus);
}

type ShareListener = (cpus: number) => void;
const listeners = new Set<{ readonly call: ShareListener }>();

/** Loading node:cluster takes some ms. In a process of a cluster it is loaded already, and others mostly have no channel. */
const isClusterWorker = (): boolean =>
  process.channel !== undefined &&
  (builtin('node:cluster') as { isWorker?: boolean }).isWorker === true;

/**
 * Calls `listener` with {@link cpuShare} when the primary of a cluster tells this process a new share. Returns a
 * function that ends this. Outside a cluster it does nothing. It does not keep a process alive.
 */
export function onShare(listener: ShareListener): () => void {
  if (!isClusterWorker()) return () => {};
  const entry = { call: listener };
  // A listener holds the channel, but node:cluster itself does so for as long as the process does not say otherwise, and
  // what it says then (`process.channel.unref()`) stands.
  if (listeners.size === 0) process.on('message', receive);
  listeners.add(entry);
  return () => {
    if (listeners.delete(entry) && listeners.size === 0) process.off('message', receive);
  };
}

function receive(message: unknown): void {
  if (typeof message !== 'object' || message === null) return;
  const cpus = cpusOf((message as Record<string, unknown>)[key]);
  if (cpus === null) return;
  // For pools that are made later, and for processes that this one starts.
  process.env[variable] = String(cpus);
  const share = cpuShare();
  for (const { call } of [...listeners]) {
    try {
      call(share);
    } catch (error) {
      throwLater(error);
    }
  }
}
