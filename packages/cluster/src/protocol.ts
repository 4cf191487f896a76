/**
 * Messages between the primary and its processes, and the statistics that travel in them. Each side ignores messages without our
 * key, since the application may have messages of its own. Nothing here has state.
 */
import type { SendHandle } from 'node:child_process';
import type { Stall, StallStats } from '@millrace/monitor/stalls';
import type { Settings } from './options.js';

/** A server of a process asks for a socket to listen on. */
export interface Query {
  /** Number of the server, in its process. */
  readonly server: number;
  /** True for the server of the application, false for other servers that it opens. */
  readonly isMain: boolean;
  readonly address: string | null;
  readonly port: number;
  readonly addressType: 4 | 6;
  readonly backlog: number;
  /** Flags of the socket, such as IPv6 only. */
  readonly flags: number;
  /** Keys of TLS session tickets: those of the first process are everybody's, so that sessions can be resumed anywhere. */
  readonly tickets: string | null;
}

/** An address as `socket.address()` returns it. */
export interface SocketName {
  readonly address: string;
  readonly family: string;
  readonly port: number;
}

export type FromProcess =
  | ({ readonly type: 'listen' } & Query)
  | { readonly type: 'unlisten'; readonly server: number }
  | { readonly type: 'took'; readonly connection: number }
  | { readonly type: 'refused'; readonly connection: number }
  | { readonly type: 'missed'; readonly connection: number }
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'draining' }
  | { readonly type: 'utilization'; readonly value: number }
  | { readonly type: 'stall'; readonly stall: Stall }
  /** The probes of its watch listen there. */
  | { readonly type: 'watched'; readonly address: { readonly host: string; readonly port: number } }
  | { readonly type: 'unwatched'; readonly reason: string }
  | { readonly type: 'report'; readonly ask: number; readonly report: ProcessReport }
  | { readonly type: 'health'; readonly ask: number; readonly timeout: number };

export type FromPrimary =
  | {
      readonly type: 'granted';
      readonly server: number;
      /** Of libuv, below 0; 0 for success. */
      readonly errno: number;
      readonly address: SocketName | null;
      readonly tickets: string | null;
      /** A connection must not carry a second request: it may be another client's. */
      readonly oneRequest: boolean;
    }
  | {
      readonly type: 'connection';
      readonly connection: number;
      readonly server: number;
      /** Bytes that the primary has read of it, in base64. */
      readonly head: string | null;
    }
  /** True if it has arrived: if no file descriptor is left, the message comes without the connection, and without an error. */
  | { readonly type: 'got'; readonly connection: number; readonly server: number }
  | { readonly type: 'drain' }
  | { readonly type: 'report'; readonly ask: number }
  | { readonly type: 'health'; readonly ask: number; readonly health: ClusterHealth };

/** Orders for a process at its start. A `port` of null: the application listens where it likes, or at the usual port. */
export interface Orders
  extends Pick<Settings, 'port' | 'host' | 'backlog' | 'drainTimeout' | 'idleGrace' | 'stalls'> {
  readonly slot: number;
  /** File to load; null where the entry file runs again and calls `serve()` itself. */
  readonly file: string | null;
  /** Ms between reports of utilization; 0 for none. */
  readonly sampleInterval: number;
}

/** The environment variable of a process with its {@link Orders}. */
export const ordersVariable = 'MILLRACE_CLUSTER';

/** The application has messages of its own: ours are those with this key. */
const key = 'millrace:cluster';

export const wrap = (body: FromProcess | FromPrimary): Record<string, unknown> => ({ [key]: body });

export function unwrap<Body extends FromProcess | FromPrimary>(message: unknown): Body | null {
  if (typeof message !== 'object' || message === null) return null;
  return ((message as Record<string, unknown>)[key] as Body | undefined) ?? null;
}

/** Sends a message to the primary. Nobody listens to a closed channel: the process ends soon. */
export function tell(body: FromProcess): void {
  if (process.connected) process.send?.(wrap(body), undefined, {}, () => {});
}

/** A handle without a stream around it, as node:cluster hands connections on; Node.js takes it, its types do not name it. */
export type RawHandle = SendHandle & {
  close(): void;
  readStop(): number;
};

/** Time in ms for which a report is reused: not every question is worth a new one. */
export const reportAgeMs = 250;

/** State of a process. `starting`: it does not listen yet; `draining`: it gets no new connections. */
export type ProcessState = 'starting' | 'ready' | 'draining' | 'gone';

/** Report of a process about itself. */
export interface ProcessReport {
  /** Busy share of its loop since the last report, 0 to 1. */
  readonly loopUtilization: number;
  /** p99 of the durations of its loop's turns over the last second, in ms. */
  readonly loopDelayMs: number;
  /** Bytes. */
  readonly rss: number;
  readonly heapUsed: number;
  /** Open connections. */
  readonly connections: number;
  /** Results of its `onReport()` functions, summed by name. */
  readonly values: Readonly<Record<string, number>>;
}

/** State and counters of a process that the primary knows without asking it. */
export interface ProcessStats {
  /** Number of its slot, from 1. Its replacement has the same. */
  readonly slot: number;
  readonly pid: number;
  readonly state: ProcessState;
  /** Seconds since it was ready; 0 if it is not yet. */
  readonly uptime: number;
  /** Deaths of processes in this slot that were replaced. */
  readonly restarts: number;
  /** CPUs for its pools. */
  readonly cpus: number;
  /** Connections accepted since it started. */
  readonly accepted: number;
  /** Stalls of its event loop that are over, and their total time in ms; 0 if nothing watches it. */
  readonly stalls: number;
  readonly stalledMs: number;
}

export interface ProcessHealth extends ProcessStats {
  /** Null if it did not answer in time: it is blocked, or just starting. */
  readonly report: ProcessReport | null;
}

/** Counters that the primary knows without asking the processes. */
export interface ClusterStats {
  /**
   * State of the cluster. `ok`: all wanted processes are ready; `degraded`: fewer; `down`: none; `draining`: it is being
   * closed.
   */
  readonly status: 'ok' | 'degraded' | 'down' | 'draining';
  /** Number of processes that should run, and of those that are ready. */
  readonly wanted: number;
  readonly ready: number;
  /** Unexpected deaths of processes, since the start. */
  readonly deaths: number;
  /** Reloads that succeeded. */
  readonly reloads: number;
  /** Accepted connections that no process has yet, and connections closed because too many waited. */
  readonly waitingConnections: number;
  readonly refusedConnections: number;
  /** Stalls of all processes that are over, those of ended processes included. */
  readonly stalls: StallStats;
  readonly processes: readonly ProcessStats[];
}

/** Report of `health()` on all processes. */
export interface ClusterHealth extends Omit<ClusterStats, 'processes'> {
  readonly processes: readonly ProcessHealth[];
  /** Totals of the processes that answered. */
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
