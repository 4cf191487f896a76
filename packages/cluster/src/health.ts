/**
 * Health of a process, and of the whole cluster as any of its processes can tell it. A process measures only when somebody asks. A
 * report is used again for a short while, so that health checks keep neither the primary nor the processes busy.
 */
import cluster from 'node:cluster';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MillraceError } from '@millrace/base/errors';
import { countsIdleTime } from '@millrace/base/loop-clock';
import { parseValue } from '@millrace/base/options';
import { wholeMs } from '@millrace/base/schema';
import { clearTimeout, performance, setInterval, setTimeout } from '@millrace/base/timers';
import { type Monitor, monitor } from '@millrace/monitor';
import { presentWatch } from '@millrace/monitor/stalls';
import {
  type ClusterHealth,
  health,
  type ProcessReport,
  reportAgeMs,
  sumValues,
  tell,
} from './protocol.js';
import { connections } from './servers.js';

/** The one cluster of this program: node:cluster has one set of settings, and the signals mean one thing. Set by `serve()`. */
export const active: { cluster: { health(timeout: number): Promise<ClusterHealth> } | null } = {
  cluster: null,
};

const reports = new Set<() => Readonly<Record<string, number>>>();

/**
 * Adds numbers of the application to the health report, summed by name over all processes. `values` is called for each
 * report; returns a function that undoes it. Anything but a finite number is left out.
 */
export function onReport(values: () => Readonly<Record<string, number>>): () => void {
  reports.add(values);
  return () => void reports.delete(values);
}

/**
 * Collects the results of the functions. One that fails, or returns anything but finite numbers, is reported and adds
 * nothing.
 */
function reported(): Record<string, number>[] {
  return [...reports].map((values) => {
    try {
      return Object.fromEntries(Object.entries(values()).filter(([, it]) => Number.isFinite(it)));
    } catch (error) {
      console.error('millrace cluster: on report:', error);
      return {};
    }
  });
}

/** Busy share of the loop since the last reading; one per reader. */
class Utilization {
  #last = performance.eventLoopUtilization({ idle: 0, active: 0, utilization: 0 });

  read(): number {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    return Number.isFinite(utilization) ? utilization : 0;
  }
}

const sinceReport = new Utilization();
/** Made when somebody asks for the first time: nothing is measured that nobody wants. */
let loop: Monitor | null = null;

export function report(): ProcessReport {
  if (countsIdleTime) loop ??= monitor();
  const { rss, heapUsed } = process.memoryUsage();
  let open = 0;
  for (const sockets of connections.values()) {
    for (const socket of sockets) if (!(socket as { encrypted?: boolean }).encrypted) open++;
  }
  return {
    loopUtilization: sinceReport.read(),
    loopDelayMs: loop?.loopDelay.p99 ?? 0,
    rss,
    heapUsed,
    connections: open,
    values: sumValues(reported()),
  };
}

/** Reports to the primary every `interval` ms. */
export function sampleUtilization(interval: number): void {
  const utilization = new Utilization();
  setInterval(() => tell({ type: 'utilization', value: utilization.read() }), interval).unref();
}

/** The processes' part of the time. The rest is for the way there and back. */
const reportTimeout = (timeout: number) => Math.max(1, timeout / 2);

const timeoutField = wholeMs(1, 60_000);

let asks = 0;
const asked = new Map<number, (health: ClusterHealth) => void>();

/** The primary's answer. */
export const received = (ask: number, answer: ClusterHealth): void => asked.get(ask)?.(answer);

/**
 * Returns the health of all processes, in any of them or in the primary. In a program without a cluster, the health of the
 * program itself. A message to the primary and back, and one to each process that has not reported in the last 250 ms. A
 * process that does not report in half of the time has `report: null`.
 *
 * @param timeout ms, 1 to 60,000; default 1,000
 * @throws {MillraceError} `MILLRACE_E_TIMEOUT` if the primary does not answer in time; `MILLRACE_E_CLOSED` if it is gone
 */
export async function clusterHealth(timeout = 1000): Promise<ClusterHealth> {
  parseValue('clusterHealth()', 'timeout', timeout, timeoutField);
  if (active.cluster !== null) return active.cluster.health(reportTimeout(timeout));
  if (!cluster.isWorker) return alone();
  return fromPrimary(timeout);
}

function fromPrimary(timeout: number): Promise<ClusterHealth> {
  const gone = new MillraceError(
    'MILLRACE_E_CLOSED',
    'the primary of the cluster is gone, and nobody else knows of the others; start the program again',
  );
  if (!process.connected) return Promise.reject(gone);
  const ask = ++asks;
  return new Promise<ClusterHealth>((resolve, reject) => {
    const over = (error: MillraceError) => {
      end();
      reject(error);
    };
    const closed = () => over(gone);
    const timer = setTimeout(() => {
      const message = `the primary of the cluster has not answered within ${timeout} ms; ask again, or give a timeout of up to 60000`;
      over(new MillraceError('MILLRACE_E_TIMEOUT', message));
    }, timeout);
    const end = () => {
      clearTimeout(timer);
      process.off('disconnect', closed);
      asked.delete(ask);
    };
    process.once('disconnect', closed);
    asked.set(ask, (health) => {
      end();
      resolve(health);
    });
    tell({ type: 'health', ask, timeout: reportTimeout(timeout) });
  });
}

let recent: Promise<ClusterHealth> | null = null;

/** Returns one report for all that ask at about the same time: anybody may, and the primary has connections to accept. */
function recentHealth(): Promise<ClusterHealth> {
  if (recent !== null) return recent;
  const asked = clusterHealth();
  const forget = () => (recent = null);
  asked.then(() => setTimeout(forget, reportAgeMs).unref(), forget);
  recent = asked;
  return asked;
}

/**
 * Answers a request with {@link clusterHealth} in JSON: 200 while the status is `ok` or `degraded`; 503 while it is `down` or `draining`, and
 * when the primary does not answer. The answer is at most 500 ms old. For `app.get('/health', healthHandler)` or a plain server.
 */
export async function healthHandler(_req: IncomingMessage, res: ServerResponse): Promise<void> {
  let status = 503;
  let body: unknown;
  try {
    const all = await recentHealth();
    if (all.status === 'ok' || all.status === 'degraded') status = 200;
    body = all;
  } catch (error) {
    const { code, message } = error as MillraceError;
    body = { status: 'down', error: { code, message } };
  }
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  res.end(JSON.stringify(body));
}

const none = { computing: 0, starved: 0, parked: 0, unknown: 0 };
const sumOf = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((sum, value) => sum + value, 0);

function alone(): ClusterHealth {
  const { pid } = process;
  const of = { slot: 1, pid, state: 'ready', restarts: 0, cpus: 0, accepted: 0 } as const;
  const all = { status: 'ok', wanted: 1, ready: 1, deaths: 0, reloads: 0 } as const;
  const connections = { waitingConnections: 0, refusedConnections: 0 };
  const stalls = presentWatch()?.stats() ?? { counts: none, durations: none };
  const [count, stalledMs] = [stalls.counts, stalls.durations].map(sumOf) as [number, number];
  const processes = [{ ...of, uptime: process.uptime(), stalls: count, stalledMs }];
  return health({ ...all, ...connections, stalls, processes }, [report()]);
}
