/**
 * Who gets which part of the CPUs. Pure. A process has one event loop, and the threads of its pools; the loops and threads of all
 * processes together are no more than there are whole CPUs, as far as that leaves each pool one thread.
 */

/** What a process has for its pools if no CPU is left for a thread: one thread, on the core of its loop. */
export const sharedCore = 0.5;

/**
 * Whole CPUs for loops and threads: without the `reserve` (0 to 1, a share of them), rounded to the next whole one but never above
 * what there is. At least 1.
 */
export function usableCpus(cpus: number, reserve: number): number {
  return Math.max(1, Math.min(Math.round(cpus * (1 - reserve)), Math.floor(cpus)));
}

/** How many processes have room, each with this many threads beside its loop. At least 1. */
export function processesFor(usable: number, poolThreads: number): number {
  return Math.max(1, Math.floor(usable / (1 + poolThreads)));
}

/** CPUs for the pools of each of `count` processes: whole threads, dealt out evenly; the first ones get what is left over. */
export function poolShares(usable: number, count: number): number[] {
  const threads = Math.max(0, usable - count);
  const each = Math.floor(threads / count);
  const over = threads % count;
  return Array.from({ length: count }, (_, i) => each + (i < over ? 1 : 0) || sharedCore);
}
