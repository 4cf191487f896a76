/** The health report: what a person or a load balancer asks a server for. */
import { loadavg, uptime } from 'node:os';
import { limits } from '@millrace/base/limits/limits';
import { type SystemMemory, systemMemory } from '@millrace/base/limits/memory';
import { isError } from '@millrace/base/realm';
import { type Cores, CoreWatch } from './cores.js';
import type { GcStats } from './gc.js';
import type { LoopDelay } from './loop-delay.js';
import type { ProcessMemory } from './memory.js';
import type { TaskSource } from './options.js';

/** What a monitor knows without a system call, as plain data. */
export interface Snapshot {
  readonly delay: number;
  readonly limit: number;
  readonly overLimit: boolean;
  readonly utilization: number;
  readonly loopDelay: LoopDelay;
  readonly gc: GcStats;
  readonly memory: ProcessMemory;
}

/** What `Monitor.health()` returns: of the process, and of what its container leaves it. */
export interface Health extends Omit<Snapshot, 'memory'> {
  readonly uptime: {
    /** Seconds. */
    readonly process: number;
    readonly system: number;
  };
  readonly cpu: {
    /** CPUs that this process may use, not rounded, and what says so. */
    readonly limit: number;
    readonly limitSource: 'affinity' | 'cgroup';
    /** Of the machine, over 1, 5 and 15 minutes; 0 on Windows. */
    readonly loadAverage: readonly [number, number, number];
    readonly cores: Cores;
  };
  readonly memory: SystemMemory & {
    readonly source: 'physical' | 'cgroup';
    readonly process: ProcessMemory;
  };
  /** What each source of option `tasks` says; `{ error }` for one that throws. */
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
