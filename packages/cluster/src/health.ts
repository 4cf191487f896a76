/** The health of the whole cluster, as any of its processes can tell it. */
import cluster from 'node:cluster';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MillraceError } from '@millrace/base/errors';
import { parseValue } from '@millrace/base/options';
import { wholeMs } from '@millrace/base/schema';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { active } from './active.js';
import { tell } from './protocol.js';
import { type ClusterHealth, health, reportAgeMs } from './report.js';
import { report } from './self.js';

/** What the processes have of it. The rest is the way there and back. */
const reportTimeout = (timeout: number) => Math.max(1, timeout / 2);

const timeoutField = wholeMs(1, 60_000);

let asks = 0;
const asked = new Map<number, (health: ClusterHealth) => void>();

/** The primary's answer. */
export function received(ask: number, answer: ClusterHealth): void {
  asked.get(ask)?.(answer);
}

/**
 * The health of all processes, from any of them, or from the primary. In a program without a cluster, that of the program itself. A message
 * to the primary and back, and one to each process that has not reported in the last 250 ms. A process that does not report in half of
 * the time has `report: null`.
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

/** One answer for all that ask at about the same time: anybody may, and the primary has connections to accept. */
function recentHealth(): Promise<ClusterHealth> {
  if (recent !== null) return recent;
  const asked = clusterHealth();
  const forget = () => {
    recent = null;
  };
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

function alone(): ClusterHealth {
  const self = {
    slot: 1,
    pid: process.pid,
    state: 'ready',
    uptime: process.uptime(),
    restarts: 0,
    cpus: 0,
    accepted: 0,
  } as const;
  const stats = {
    status: 'ok',
    wanted: 1,
    ready: 1,
    deaths: 0,
    reloads: 0,
    waitingConnections: 0,
    refusedConnections: 0,
    processes: [self],
  } as const;
  return health(stats, [report()]);
}
