import type { Point } from './vocabulary.js';

/**
 * Memory and CPU of the process under the names that prom-client has for them, for who shows them without it. They are the same in each
 * of its threads, but for the heap.
 */
export function runtime(): Point[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const point = (name: string, value: number): Point => ({ name, labels: {}, value });
  return [
    point('process_resident_memory_bytes', rss),
    point('nodejs_heap_size_used_bytes', heapUsed),
    point('nodejs_external_memory_bytes', external),
    point('process_cpu_user_seconds_total', user / 1e6),
    point('process_cpu_system_seconds_total', system / 1e6),
  ];
}
