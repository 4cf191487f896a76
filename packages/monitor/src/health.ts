/**
 * The health report: what a person or a load balancer asks a server for. Memory of this process and thread, the cores that this process
 * may use and which of them are idle, and what its task queues say; all restricted to what the container leaves it.
 *
 * Cores are judged over the time since an earlier look. No timer makes one, only a report, and the first compares with the start of
 * the machine. A quota limits them as well: an idle core counts only as far as the quota leaves time on it.
 */
import { cpus, loadavg, uptime } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { cpuGroup } from '@millrace/base/limits/cgroup';
import { limits, limitsOf, type SystemMemory, systemMemory } from '@millrace/base/limits/limits';
import { allowedCpus, readText } from '@millrace/base/limits/system-files';
import { now } from '@millrace/base/loop-clock';
import { isError } from '@millrace/base/realm';
import type { GcStats, LoopDelay } from './measures.js';
import type { TaskSource } from './options.js';

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

/** What the kernel has counted of the process since its start. The same in each of its threads. */
export interface KernelCounts {
  /** Switches of its threads to others: `voluntary` ones because they had to wait, `involuntary` ones because their time was up. */
  readonly switches: { readonly voluntary: number; readonly involuntary: number };
  /** System calls that read or write files, pipes and streams, without `send()` and `recv()`; null where the kernel does not tell. */
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

/** Times of a core since the machine started, in ticks of any length. */
interface CoreTimes {
  readonly cpu: number;
  readonly idle: number;
  readonly total: number;
}

/** One core. */
export interface Core {
  readonly cpu: number;
  /** 0 to 1, over the interval. */
  readonly idleShare: number;
}

/** The cores that this process may use. */
export interface Cores {
  /** Cores that this process may use: those of its affinity, or as many as its quota fills, rounded up. */
  readonly count: number;
  /** Those that were idle for more than the threshold, as far as the quota leaves time on them. */
  readonly idle: number;
  readonly busy: number;
  readonly idleThreshold: number;
  /** Length in ms of the time over which it was judged. */
  readonly intervalMs: number;
  /** CPUs that the group with the quota has used on average over the interval; null without a quota. */
  readonly quotaUsed: number | null;
  /** Those of the affinity, also where a quota allows fewer. */
  readonly each: readonly Core[];
}

/** Lines of `/proc/stat`. Waiting for a disk is idle time. */
export function parseStat(text: string): CoreTimes[] {
  const cores: CoreTimes[] = [];
  for (const line of text.split('\n')) {
    const match = /^cpu(\d+) (.+)$/.exec(line);
    if (match === null) continue;
    // user nice system idle iowait irq softirq steal; guest time, which follows, is part of user and nice.
    const ticks = match[2]!.trim().split(/\s+/).slice(0, 8).map(Number);
    const total = ticks.reduce((sum, each) => sum + each, 0);
    cores.push({ cpu: Number(match[1]), idle: (ticks[3] ?? 0) + (ticks[4] ?? 0), total });
  }
  return cores;
}

/** Idle shares of the allowed cores between two looks; a core that has not ticked since was idle as far as is known. */
export function idleShares(
  from: readonly CoreTimes[],
  to: readonly CoreTimes[],
  allowed: readonly number[] | null,
): Core[] {
  const before = new Map(from.map((core) => [core.cpu, core]));
  const cores: Core[] = [];
  for (const { cpu, idle, total } of to) {
    if (allowed !== null && !allowed.includes(cpu)) continue;
    const ticks = total - (before.get(cpu)?.total ?? 0);
    const idleTicks = idle - (before.get(cpu)?.idle ?? 0);
    cores.push({ cpu, idleShare: ticks > 0 ? Math.min(1, Math.max(0, idleTicks / ticks)) : 1 });
  }
  return cores;
}

/**
 * Cores that a quota still fills, if it is used by `used` CPUs: its last core counts if more than the threshold is left
 * of it. A quota of 2 of which 1.95 is used has none, with 1.5 used one, with 0.5 used two.
 */
export const idleByQuota = (quota: number, used: number, threshold: number): number =>
  Math.max(0, Math.ceil(Number((quota - used - threshold).toFixed(6))));

interface Look {
  readonly at: number;
  readonly times: readonly CoreTimes[];
  readonly usedMs: number | null;
}

/** A look younger than this is not used for comparison: cores tick every 10 ms. */
const intervalMs = 500;

/** Compares with the last look that is old enough. */
export class CoreWatch {
  readonly #root: string;
  #before: Look;
  #last: Look | null = null;

  constructor(root = '/') {
    this.#root = root;
    // Until there has been a look: since the machine started.
    this.#before = { at: now() - uptime() * 1000, times: [], usedMs: null };
  }

  read(idleThreshold: number): Cores {
    const { usedMs } = cpuGroup(this.#root);
    const look = { at: now(), times: coreTimes(this.#root), usedMs };
    if (this.#last === null || look.at - this.#last.at >= intervalMs) {
      if (this.#last !== null) this.#before = this.#last;
      this.#last = look;
    }
    const before = this.#before;
    const elapsed = look.at - before.at;
    const each = idleShares(before.times, look.times, allowedCpus(this.#root));
    const ofCores = each.filter(({ idleShare }) => idleShare > idleThreshold).length;
    const { cpus: quota, cpuSource, affinity } = limitsOf(this.#root);
    const isQuota = cpuSource === 'cgroup';
    const isKnown = look.usedMs !== null && before.usedMs !== null && elapsed > 0;
    const quotaUsed = isQuota && isKnown ? (look.usedMs! - before.usedMs!) / elapsed : null;
    const count = isQuota ? Math.ceil(quota) : each.length || affinity;
    const byQuota = isQuota ? idleByQuota(quota, quotaUsed ?? 0, idleThreshold) : count;
    const idle = Math.min(count, ofCores, byQuota);
    return { count, idle, busy: count - idle, idleThreshold, intervalMs: elapsed, quotaUsed, each };
  }
}

function coreTimes(root: string): CoreTimes[] {
  const stat = readText(root, 'proc/stat');
  if (stat !== null) return parseStat(stat);
  return cpus().map(({ times: { user, nice, sys, idle, irq } }, cpu) => {
    return { cpu, idle, total: user + nice + sys + idle + irq };
  });
}

/** What a monitor knows, and what little the system says besides, as plain data. */
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
