/** Memory of the container, or of the machine where that has no limit. */
import { freemem, totalmem } from 'node:os';
import { memoryGroup } from './cgroup.js';
import { memoryInfo } from './system-files.js';

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
