/**
 * The cores that this process may run on, and how busy they are. The kernel counts ticks of each core (`/proc/stat`; elsewhere
 * `node:os`) and the CPU time of a control group. Two looks at these counters tell what was used in between. No look is made by itself:
 * its user asks for it, and says when it was. Nothing is judged by what a core has done since the machine started.
 *
 * Ticks are 10 ms long, so windows below some 100 ms say little: a core that has not ticked counts as idle. A quota limits the cores
 * as well: an idle core counts only as far as the quota leaves time on it.
 */
import { cpus } from 'node:os';
import { performance } from '../timers.cjs';
import { allowedCpus, cpuGroup, readText } from './kernel.js';
import { limitsOf } from './limits.js';

/** Times of a core since the machine started, in ticks of any length. */
interface CoreTimes {
  readonly cpu: number;
  readonly idle: number;
  readonly total: number;
}

/** Lines of `/proc/stat`; one that has too few numbers is left out. Waiting for a disk is idle time. */
export function parseStat(text: string): CoreTimes[] {
  const cores: CoreTimes[] = [];
  for (const line of text.split('\n')) {
    const match = /^cpu(\d+) (.+)$/.exec(line);
    if (match === null) continue;
    // user nice system idle iowait irq softirq steal; guest time, which follows, is part of user and nice.
    const ticks = match[2]!.trim().split(/\s+/).slice(0, 8).map(Number);
    if (ticks.length < 4 || !ticks.every(Number.isFinite)) continue;
    const total = ticks.reduce((sum, each) => sum + each, 0);
    cores.push({ cpu: Number(match[1]), idle: ticks[3]! + (ticks[4] ?? 0), total });
  }
  return cores;
}

function coreTimes(root: string): CoreTimes[] {
  const stat = readText(root, 'proc/stat');
  if (stat !== null) return parseStat(stat);
  return cpus().map(({ times: { user, nice, sys, idle, irq } }, cpu) => {
    return { cpu, idle, total: user + nice + sys + idle + irq };
  });
}

/** Core of the machine. */
export interface Core {
  readonly cpu: number;
  /** 0 to 1, over the interval. */
  readonly idleShare: number;
}

/** Idle shares of the allowed cores between two looks; a core that has not ticked since, or has come since, was idle as far as is known. */
export function idleShares(
  from: readonly CoreTimes[],
  to: readonly CoreTimes[],
  allowed: readonly number[] | null,
): Core[] {
  const before = new Map(from.map((core) => [core.cpu, core]));
  const cores: Core[] = [];
  for (const { cpu, idle, total } of to) {
    if (allowed !== null && !allowed.includes(cpu)) continue;
    const ticks = total - (before.get(cpu)?.total ?? total);
    const idleTicks = idle - (before.get(cpu)?.idle ?? idle);
    cores.push({ cpu, idleShare: ticks > 0 ? Math.min(1, Math.max(0, idleTicks / ticks)) : 1 });
  }
  return cores;
}

/** The counters at one time. */
export interface CoreLook {
  /** In ms. */
  readonly at: number;
  readonly times: readonly CoreTimes[];
  /** The least quota, in CPUs; null for none. */
  readonly quota: number | null;
  /** CPU time in ms that the group with the least quota has used; null without a quota, or if unknown. */
  readonly groupMs: number | null;
}

/** Reads the counters: a fraction of a ms. `root` is the folder of the kernel's files, for tests. */
export function lookAtCores(root: string, at: number): CoreLook {
  const { quota, usedMs } = cpuGroup(root);
  return { at, times: coreTimes(root), quota, groupMs: usedMs };
}

/** CPUs that the group with the quota has used on average between two looks; null if that is unknown. */
export function groupUse(from: CoreLook, to: CoreLook): number | null {
  const isKnown = from.groupMs !== null && to.groupMs !== null && to.at > from.at;
  return isKnown ? (to.groupMs - from.groupMs) / (to.at - from.at) : null;
}

// ---- for people

/** The cores that this process may use. */
export interface Cores {
  /** Cores that this process may use: those of its affinity, or as many as its quota fills, rounded up. */
  readonly count: number;
  /** Cores that were idle for more than the threshold, as far as the quota leaves time on them. */
  readonly idle: number;
  readonly busy: number;
  readonly idleThreshold: number;
  /** Length of the measured interval in ms. */
  readonly intervalMs: number;
  /** CPUs that the group with the quota has used on average over the interval; null without a quota. */
  readonly quotaUsed: number | null;
  /** The cores of the affinity, even where a quota allows fewer. */
  readonly each: readonly Core[];
}

/**
 * Cores that a quota still fills, if it is used by `used` CPUs: its last core counts if more than the threshold is left
 * of it. A quota of 2 of which 1.95 is used has none, with 1.5 used one, with 0.5 used two.
 */
export const idleByQuota = (quota: number, used: number, threshold: number): number =>
  Math.max(0, Math.ceil(Number((quota - used - threshold).toFixed(6))));

/** A look younger than this is compared with only if there is no older one, in ms. */
const intervalMs = 500;

/** Compares with the last look that is old enough; with the first one, which is made at once, until there is another. */
export class CoreWatch {
  readonly #root: string;
  readonly #clock: () => number;
  #before: CoreLook;
  #last: CoreLook;

  constructor(root = '/', clock: () => number = performance.now) {
    this.#root = root;
    this.#clock = clock;
    this.#before = lookAtCores(root, clock());
    this.#last = this.#before;
  }

  /** Looks: a fraction of a ms. `idleThreshold` is a share of the time, 0 to 1. */
  read(idleThreshold: number): Cores {
    const look = lookAtCores(this.#root, this.#clock());
    if (look.at - this.#last.at >= intervalMs) {
      this.#before = this.#last;
      this.#last = look;
    }
    const before = this.#before;
    const each = idleShares(before.times, look.times, allowedCpus(this.#root));
    const { cpus: quota, cpuSource, affinity } = limitsOf(this.#root);
    const isQuota = cpuSource === 'cgroup';
    const quotaUsed = isQuota ? groupUse(before, look) : null;
    const count = isQuota ? Math.ceil(quota) : each.length || affinity;
    const byQuota = isQuota ? idleByQuota(quota, quotaUsed ?? 0, idleThreshold) : count;
    // Nothing is known of any core: none is known to be busy.
    const isUnknown = each.length === 0;
    const ofCores = each.filter(({ idleShare }) => idleShare > idleThreshold).length;
    const idle = Math.min(count, isUnknown ? count : ofCores, byQuota);
    const elapsed = look.at - before.at;
    return { count, idle, busy: count - idle, idleThreshold, intervalMs: elapsed, quotaUsed, each };
  }
}
