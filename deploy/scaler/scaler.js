/** The scaler as a whole: its watches, the service for KEDA, and the server for the platform. */
import { performance } from 'node:perf_hooks';
import { TaskOperator } from '@millrace/nats/tasks';
import { createMetrics, startHttp } from './http.js';
import { Pods } from './pods.js';
import { startService } from './service.js';
import { Stream } from './stream.js';
import { Refusal } from './triggers.js';
import { Watches } from './watch.js';

/**
 * @param {object} options
 * @param {string} options.host
 * @param {number} options.port of HTTP; 0: any
 * @param {number} options.grpcPort 0: any
 * @param {object | null} options.broker options of the connection; null: no depth of tasks
 * @param {number} options.intervalMs between two readings of a source
 * @param {number} options.timeoutMs for a pod to answer
 * @param {number} options.windowMs over which pods are judged
 * @param {number} options.holdMs that the last answer of a pod or of the broker counts
 * @param {(line: string) => void} options.log
 * @param {() => number} [options.now] a clock that never goes back, in ms
 * @returns {Promise<{ port: number, grpcPort: number, close: () => Promise<void> }>}
 * @throws {MillraceError} MILLRACE_E_INVALID_OPTION for a broker that is none
 * @throws {Error} if it cannot listen there
 */
export async function startScaler({
  host,
  port,
  grpcPort,
  broker,
  intervalMs,
  timeoutMs,
  windowMs,
  holdMs,
  log,
  now = () => performance.now(),
}) {
  // A mistake in its address is told now, not at the first trigger. This connection is given up before it is made.
  if (broker !== null) await new TaskOperator(broker, 'none').close();
  const open = ({ kind, urls, name }) => {
    if (kind === 'pods') return new Pods({ urls, windowMs, holdMs, timeoutMs });
    if (broker !== null) return new Stream({ broker, stream: name, holdMs });
    throw new Refusal(
      'metric is task-depth, but this scaler has no broker; start it with --broker',
    );
  };
  const watches = new Watches({ open, intervalMs, holdMs, now, log });
  const { registry, count } = createMetrics(watches);
  const http = await startHttp({ host, port, registry });
  let service;
  try {
    service = await startService({ host, port: grpcPort, watches, count, log });
  } catch (error) {
    await http.close();
    throw error;
  }
  return {
    port: http.port,
    grpcPort: service.port,
    async close() {
      http.drain();
      await service.close();
      await watches.close();
      await http.close();
    },
  };
}
