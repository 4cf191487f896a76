/** Memory of this process and thread. */
import { getHeapStatistics } from 'node:v8';
import { systemMemory } from '@millrace/base/limits/memory';

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

/** Memory of this process and thread, for decisions such as those of a pool. Tens of µs. */
export function memoryUsage(): ProcessMemory {
  return { ...ofThread(), limit: systemMemory().totalBytes };
}

export function ofThread(): Omit<ProcessMemory, 'limit'> {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const heapLimit = getHeapStatistics().heap_size_limit;
  return { rss, heapUsed, heapTotal, external, arrayBuffers, heapLimit };
}
