/** What runs in each process: takes its orders, loads or gets the application, makes it listen, and drains when told to. */
import cluster from 'node:cluster';
import type { Server } from 'node:net';
import { MillraceError } from '@millrace/base/errors';
import { isError } from '@millrace/base/realm';
import { application, listening } from './application.js';
import { drainOn } from './drain.js';
import { received } from './health.js';
import { type FromPrimary, type Orders, ordersVariable, tell, unwrap } from './protocol.js';
import { report, sampleUtilization } from './self.js';
import { firstListening, receiveConnections } from './servers.js';

/** A process of a cluster, seen from the application in it. */
export interface ClusterWorker {
  readonly isPrimary: false;
  /** Its place in the cluster, from 1; a process that replaces it has the same. */
  readonly slot: number;
  /** The server that listens; null if the application gave none. */
  readonly server: Server | null;
}

/** The orders, once: what this process starts itself gets none. Null where there are none. */
export function takeOrders(): Orders | null {
  const text = process.env[ordersVariable];
  delete process.env[ordersVariable];
  return text === undefined ? null : (JSON.parse(text) as Orders);
}

/** Runs what `get` returns as the application of this process. Resolves when it listens and the primary knows. */
export async function work(
  orders: Orders,
  get: () => unknown | Promise<unknown>,
): Promise<ClusterWorker> {
  tellFailures();
  receiveConnections();
  drainOn(orders);
  process.on('message', (message) => {
    const body = unwrap<FromPrimary>(message);
    if (body?.type === 'report') tell({ type: 'report', ask: body.ask, report: report() });
    else if (body?.type === 'health') received(body.ask, body.health);
  });
  if (orders.sampleInterval > 0) sampleUtilization(orders.sampleInterval);
  const app = await application(await get());
  const server = app === null ? null : await listening(app, orders);
  // It listens by itself, or will.
  if (app === null) await firstListening();
  tell({ type: 'ready' });
  return { isPrimary: false, slot: orders.slot, server };
}

/** Tells the primary why it does not start; the stack goes to stderr, as always. */
function tellFailures(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    tell({ type: 'failed', reason: isError(error) ? error.message : String(error) });
  });
}

/** What to say to a process that was started by somebody else's cluster. */
export function foreign(): MillraceError {
  const who = cluster.isWorker ? 'by another program through node:cluster' : 'as a second cluster';
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `serve() was called in a process that was started ${who}, or a second time; run the program by itself (with pm2 in fork mode), and call serve() once`,
  );
}
