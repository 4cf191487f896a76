/** Which cores are idle, of those that this process may use. */
import { cpus, uptime } from 'node:os';
import { cpuGroup } from '@millrace/base/limits/cgroup';
import { limitsOf } from '@millrace/base/limits/limits';
import { allowedCpus, readText } from '@millrace/base/limits/system-files';
import { now } from '@millrace/base/loop-clock';

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

/** Compares with the last look that is old enough. No timer does this, only whoever asks. */
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
    const look = this.#look();
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

  #look(): Look {
    const { usedMs } = cpuGroup(this.#root);
    return { at: now(), times: coreTimes(this.#root), usedMs };
  }
}

function coreTimes(root: string): CoreTimes[] {
  const stat = readText(root, 'proc/stat');
  if (stat !== null) return parseStat(stat);
  return cpus().map(({ times: { user, nice, sys, idle, irq } }, cpu) => {
    return { cpu, idle, total: user + nice + sys + idle + irq };
  });
}
