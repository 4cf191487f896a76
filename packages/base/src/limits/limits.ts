/** Limits of this process on its machine: the least of affinity, quotas and memory limits; and the memory that is left. */
import { availableParallelism, freemem, totalmem } from 'node:os';
import { cpuGroup, memoryGroup } from './cgroup.js';
import { allowedCpus, memoryInfo } from './system-files.js';

/** What this process may use of its machine. */
export interface Limits {
  /** CPUs that can be used at a time, not rounded: 1.5 is one and a half. */
  readonly cpus: number;
  /** Which of the two is the lesser one. */
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
 * What this process may use: CPUs by its affinity and the quotas of its control groups (`cpu.max`, `cpu.cfs_quota_us`),
 * memory by their limits (`memory.max`, `memory.limit_in_bytes`) and what the machine has. Groups above its own count, too,
 * as far as they can be seen from where it runs. Reads some small files of the kernel on Linux (a fraction of a ms) each
 * time, since limits can change; elsewhere it says what `node:os` says.
 */
export function limits(): Limits {
  return limitsOf('/');
}

/** With the files of another root folder, for tests. */
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
  /** Bytes that are not available. */
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
