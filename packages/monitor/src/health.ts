/**
 * The health report: what a person or a load balancer asks a server for. Memory of this process and thread, the cores that this process
 * may use and which of them are idle, and what its task queues say; all restricted to what the container leaves it.
 *
 * Cores are judged over the time since an earlier look: the first is made with the monitor, the others with its reports. No timer makes one.
 */
import { loadavg, uptime } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type Cores, CoreWatch } from '@millrace/base/limits/cores';
import { readText } from '@millrace/base/limits/kernel';
import { limits, type SystemMemory, systemMemory } from '@millrace/base/limits/limits';
import { isError } from '@millrace/base/realm';
import type { GcStats, LoopDelay } from './measures.js';
import type { TaskSource } from './options.js';

/** In bytes. */
export interface ProcessMemory {
  /** Resident memory of the process; the same in each of its threads. */
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  /** Memory outside of the heap that its objects use: buffers and others. */
  readonly external: number;
  readonly arrayBuffers: number;
  /** Limit of this thread's heap (`--max-old-space-size`, `resourceLimits`). */
  readonly heapLimit: number;
  /** Limit of the container or the machine, as `limits().memoryBytes`. */
  readonly limit: number;
}

/** Returns the memory of this process and thread, for decisions such as those of a pool. Tens of µs. */
export function memoryUsage(): ProcessMemory {
  return { ...ofThread(), limit: systemMemory().totalBytes };
}

export function ofThread(): Omit<ProcessMemory, 'limit'> {
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
  const heapLimit = getHeapStatistics().heap_size_limit;
  return { rss, heapUsed, heapTotal, external, arrayBuffers, heapLimit };
}

/** Counters of the kernel since the start of the process. The same in each of its threads. */
export interface KernelCounts {
  /** Context switches of its threads: `voluntary` when they had to wait, `involuntary` when their time was up. */
  readonly switches: { readonly voluntary: number; readonly involuntary: number };
  /**
   * System calls that read or write files, pipes and streams, without `send()` and `recv()`; null where the kernel does not
   * report them.
   */
  readonly calls: { readonly read: number; readonly write: number } | null;
}

/** Reads a small file of the kernel: tens of µs. */
export function kernelCounts(root = '/'): KernelCounts {
  const { voluntaryContextSwitches, involuntaryContextSwitches } = process.resourceUsage();
  const text = readText(root, 'proc/self/io') ?? '';
  const read = /^syscr: (\d+)$/m.exec(text)?.[1];
  const write = /^syscw: (\d+)$/m.exec(text)?.[1];
  return {
    switches: { voluntary: voluntaryContextSwitches, involuntary: involuntaryContextSwitches },
    calls: read && write ? { read: Number(read), write: Number(write) } : null,
  };
}

/** Figures of a monitor and counters of the system, as plain data. */
export interface Snapshot {
  readonly delay: number;
  readonly limit: number;
  readonly overLimit: boolean;
  readonly utilization: number;
  readonly loopDelay: LoopDelay;
  readonly gc: GcStats;
  readonly memory: ProcessMemory;
  readonly kernel: KernelCounts;
}

/** Report of `Monitor.health()`: the process, and the resources that its container leaves it. */
export interface Health extends Omit<Snapshot, 'memory'> {
  readonly uptime: {
    /** Seconds. */
    readonly process: number;
    readonly system: number;
  };
  readonly cpu: {
    /** CPUs that this process may use, not rounded, and the source of that limit. */
    readonly limit: number;
    readonly limitSource: 'affinity' | 'cgroup';
    /** Load averages of the machine, over 1, 5 and 15 minutes; 0 on Windows. */
    readonly loadAverage: readonly [number, number, number];
    readonly cores: Cores;
  };
  readonly memory: SystemMemory & {
    readonly source: 'physical' | 'cgroup';
    readonly process: ProcessMemory;
  };
  /** Statistics of each source of option `tasks`; `{ error }` for one that throws. */
  readonly tasks: Readonly<Record<string, unknown>>;
}

export class HealthReport {
  readonly #cores = new CoreWatch();

  read(
    { memory, ...loop }: Snapshot,
    idleThreshold: number,
    tasks: Readonly<Record<string, TaskSource>>,
  ): Health {
    const { cpus, cpuSource, memorySource } = limits();
    const [one = 0, five = 0, fifteen = 0] = loadavg();
    return {
      ...loop,
      uptime: { process: process.uptime(), system: uptime() },
      cpu: {
        limit: cpus,
        limitSource: cpuSource,
        loadAverage: [one, five, fifteen],
        cores: this.#cores.read(idleThreshold),
      },
      memory: { ...systemMemory(), source: memorySource, process: memory },
      tasks: Object.fromEntries(Object.entries(tasks).map(([name, of]) => [name, ask(of)])),
    };
  }
}

/** A source that fails belongs in the report, and must not prevent it. */
function ask(source: TaskSource): unknown {
  try {
    return typeof source === 'function' ? source() : source.stats();
  } catch (error) {
    return { error: isError(error) ? error.message : String(error) };
  }
}
