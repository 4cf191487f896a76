/** Memory of the process and of the machine as far as the process may use it. */
import { freemem, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { memoryGroup } from './cgroup.js';
import { memoryInfo } from './system-files.js';

/** In bytes. */
export interface ProcessMemory {
  /** What the process has in memory; the same in each of its threads. */
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  /** Memory outside of the heap that objects of it hold: buffers and others. */
  readonly external: number;
  readonly arrayBuffers: number;
  /** What the heap of this thread can grow to (`--max-old-space-size`, `resourceLimits`). */
  readonly heapLimit: number;
  /** What the container or the machine allows, as `limits().memoryBytes`. */
  readonly limit: number;
}

/** Memory of the container, or of the machine where that has no limit. */
export interface SystemMemory {
  readonly totalBytes: number;
  readonly availableBytes: number;
  /** What is not available. */
  readonly usedBytes: number;
}

/** What the process may use, what is left of that, and what is not. `root` is for tests. */
export function systemMemory(root = '/'): SystemMemory {
  const physical = memoryInfo(root, 'MemTotal') ?? totalmem();
  const free = memoryInfo(root, 'MemAvailable') ?? freemem();
  const group = memoryGroup(root, physical);
  const totalBytes = group.limitBytes ?? physical;
  const availableBytes = Math.min(free, group.availableBytes ?? free);
  return { totalBytes, availableBytes, usedBytes: Math.max(0, totalBytes - availableBytes) };
}

/** Memory of this process and thread, for decisions such as those of a pool. Tens of µs. */
export function memoryUsage(): ProcessMemory {
  return { ...ofThread(), limit: systemMemory().totalBytes };
}

export function ofThread(): Omit<ProcessMemory, 'limit'> {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const heapLimit = getHeapStatistics().heap_size_limit;
  return { rss, heapUsed, heapTotal, external, arrayBuffers, heapLimit };
}
