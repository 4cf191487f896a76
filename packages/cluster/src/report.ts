/** What the processes report about themselves, and what it adds up to. Plain data. */

/** How long a report is used again, in ms: not every question is worth a new answer. */
export const reportAgeMs = 250;

/** `starting`: it does not listen yet; `draining`: it is handed no connections any more. */
export type ProcessState = 'starting' | 'ready' | 'draining' | 'gone';

/** A process about itself. */
export interface ProcessReport {
  /** Busy share of its loop since the last report, 0 to 1. */
  readonly loopUtilization: number;
  /** p99 of the time that turns of its loop took over the last second, in ms. */
  readonly loopDelayMs: number;
  /** Bytes. */
  readonly rss: number;
  readonly heapUsed: number;
  /** Open connections. */
  readonly connections: number;
  /** What its `onReport()` functions return, summed by name. */
  readonly values: Readonly<Record<string, number>>;
}

/** What the primary knows of a process without asking it. */
export interface ProcessStats {
  /** Its place, from 1. A process that replaces it has the same one. */
  readonly slot: number;
  readonly pid: number;
  readonly state: ProcessState;
  /** Seconds since it was ready; 0 if it is not yet. */
  readonly uptime: number;
  /** How often a process in this place died and was replaced. */
  readonly restarts: number;
  /** CPUs for its pools. */
  readonly cpus: number;
  /** Connections accepted since it started. */
  readonly accepted: number;
}

export interface ProcessHealth extends ProcessStats {
  /** Null if it did not answer in time: it is blocked, or just starting. */
  readonly report: ProcessReport | null;
}

/** What the primary knows without asking the processes. */
export interface ClusterStats {
  /** `ok`: as many are ready as there should be; `degraded`: fewer; `down`: none; `draining`: it is being closed. */
  readonly status: 'ok' | 'degraded' | 'down' | 'draining';
  /** Processes that should run, and those that are ready. */
  readonly wanted: number;
  readonly ready: number;
  /** Processes that died unasked, since the start. */
  readonly deaths: number;
  /** Reloads that succeeded. */
  readonly reloads: number;
  /** Accepted connections that no process has taken yet, and those closed because there were too many. */
  readonly waitingConnections: number;
  readonly refusedConnections: number;
  readonly processes: readonly ProcessStats[];
}

/** What `health()` tells of all processes. */
export interface ClusterHealth extends Omit<ClusterStats, 'processes'> {
  readonly processes: readonly ProcessHealth[];
  /** Of those that answered. */
  readonly total: {
    /** Mean and highest. */
    readonly loopUtilization: number;
    readonly maxLoopUtilization: number;
    /** Highest. */
    readonly loopDelayMs: number;
    /** Sums. */
    readonly rss: number;
    readonly heapUsed: number;
    readonly connections: number;
    readonly values: Readonly<Record<string, number>>;
  };
}

/** Sums and maxima of the reports. Pure. */
function total(reports: readonly ProcessReport[]): ClusterHealth['total'] {
  const sum = (of: (report: ProcessReport) => number) =>
    reports.reduce((result, each) => result + of(each), 0);
  const max = (of: (report: ProcessReport) => number) =>
    reports.reduce((result, each) => Math.max(result, of(each)), 0);
  return {
    loopUtilization: sum((each) => each.loopUtilization) / Math.max(1, reports.length),
    maxLoopUtilization: max((each) => each.loopUtilization),
    loopDelayMs: max((each) => each.loopDelayMs),
    rss: sum((each) => each.rss),
    heapUsed: sum((each) => each.heapUsed),
    connections: sum((each) => each.connections),
    values: sumValues(reports.map((each) => each.values)),
  };
}

export function sumValues(all: readonly Readonly<Record<string, number>>[]) {
  const sums: Record<string, number> = {};
  for (const values of all) {
    for (const [name, value] of Object.entries(values)) sums[name] = (sums[name] ?? 0) + value;
  }
  return sums;
}

export function health(
  stats: ClusterStats,
  reports: readonly (ProcessReport | null)[],
): ClusterHealth {
  const processes = stats.processes.map((each, i) => ({ ...each, report: reports[i] ?? null }));
  return { ...stats, processes, total: total(reports.filter((each) => each !== null)) };
}
