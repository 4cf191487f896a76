/**
 * The end of a process: what it has begun is finished, and nothing is begun that is not asked for already. Connections that are kept
 * alive are the hard part: to close one while its client sends the next request is to lose that request. So they get an answer that
 * says that it is the last one, and are closed without a word only when no request has come for a while.
 *
 * A loop that was blocked runs its timers before it reads: a request may have arrived by then, on a connection that still looks idle.
 * So connections are judged at the end of a turn, when all that has arrived was read, and not in the callback of a timer.
 *
 * Draining begins once, whoever asks for it: the primary, a signal, or the primary's death. Then: `onDrain` hooks, the last answers,
 * `onClose` hooks, exit. The primary kills a process that takes too long; one without a primary ends itself.
 */
import cluster from 'node:cluster';
import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { patchMethod } from '@millrace/base/patch';
import { setInterval, setTimeout, sleep } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import { type Orders, tell } from './protocol.js';
import { closeAfter, closeAfterAnswer, connections, sessions } from './servers.js';

type Hook = () => unknown;

const hooks = { drain: new Set<Hook>(), close: new Set<Hook>() };

/**
 * Calls `hook` when this process begins to drain: the time to close WebSockets and other connections that do not end by
 * themselves. New requests on connections that are open may still come. The hook may return a promise, for which the process
 * waits before it ends. Returns a function that undoes it. Outside of a cluster it is never called.
 */
export function onDrain(hook: Hook): () => void {
  hooks.drain.add(hook);
  return () => void hooks.drain.delete(hook);
}

/**
 * Calls `hook` after the last request of this process, before it ends: the time to close a database. The hook may return a
 * promise, for which the process waits as long as `drainTimeout` allows. Returns a function that undoes it. Outside of a
 * cluster it is never called.
 */
export function onClose(hook: Hook): () => void {
  hooks.close.add(hook);
  return () => void hooks.close.delete(hook);
}

/** For messages about a process whose primary is gone, and which nobody kills. */
const selfKillMs = 1000;

/** Ms between two looks, at the least: an `idleGrace` of 0 must not keep the loop busy. */
const minLookMs = 100;

/** Fields that Node.js keeps on the socket of an HTTP connection: its parser, until it is upgraded, and the current response. */
type HttpSocket = Socket & {
  readonly parser?: object | null;
  readonly _httpMessage?: object | null;
};

let isDraining = false;

/** Drains on SIGTERM, and when the primary is gone. */
export function drainOn(orders: Orders): void {
  process.on('SIGTERM', () => {
    tell({ type: 'draining' });
    void drain(orders);
  });
  // A terminal sends them to all processes. They are for the primary, which says what to do.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.prependListener('disconnect', () => {
    // Without this node:cluster ends the process at once, with all requests in it.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
    void drain(orders);
  });
}

export async function drain({ idleGrace, drainTimeout }: Orders): Promise<void> {
  if (isDraining) return;
  isDraining = true;
  setTimeout(() => process.exit(1), drainTimeout + selfKillMs).unref();
  for (const [server, sockets] of connections) announce(server, sockets);
  for (const session of sessions) session.close();
  const drained = run('drain');
  let seen = received();
  const closeIdle = () => {
    const before = seen;
    seen = received();
    for (const [socket, bytes] of seen) {
      // The head of a request may be arriving.
      if (isIdle(socket) && bytes === before.get(socket)) socket.destroy();
    }
  };
  await Promise.race([allClosed(), sleep(idleGrace)]);
  for (const server of connections.keys()) if (server.listening) stop(server);
  for (const session of sessions) session.close();
  atTurnEnd(closeIdle);
  setInterval(() => atTurnEnd(closeIdle), Math.max(idleGrace, minLookMs));
  await allClosed();
  await drained;
  await run('close');
  process.exit(0);
}

/** Bytes that have arrived, by connection. */
function received(): Map<HttpSocket, number> {
  const sockets: HttpSocket[] = [...connections.values()].flatMap((each) => [...each]);
  return new Map(sockets.map((socket) => [socket, socket.bytesRead]));
}

function announce(server: Server, sockets: Iterable<HttpSocket>): void {
  const http = server as HttpServer;
  closeAfterAnswer(http);
  // Node.js would close idle connections by a timer. `closeIdle` does it.
  http.keepAliveTimeout = 0;
  for (const socket of sockets) {
    const res = socket._httpMessage as ServerResponse | null | undefined;
    if (res?.headersSent === false) closeAfter(res);
    if (isIdle(socket)) socket.setTimeout(0);
  }
}

/** Closes the port. A server of HTTP would also close what looks idle now, for however short a time: that is left to `closeIdle`. */
function stop(server: Server): void {
  const http = server as HttpServer;
  const isHttp = typeof http.closeIdleConnections === 'function';
  const patch = isHttp ? patchMethod(http, 'closeIdleConnections', () => () => {}) : null;
  server.close();
  patch?.undo();
}

/** HTTP connections without a request in progress. What was upgraded has no parser, and is not idle. */
const isIdle = ({ parser, _httpMessage }: HttpSocket): boolean => Boolean(parser) && !_httpMessage;

function allClosed(): Promise<void> {
  const open = [...connections.values()].flatMap((sockets) => [...sockets]);
  if (open.length === 0) return Promise.resolve();
  const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  // New ones may have come meanwhile.
  return Promise.all(closed).then(() => allClosed());
}

/** Runs all hooks at the same time. A failure is reported, and stops neither the other hooks nor the end. */
async function run(when: keyof typeof hooks): Promise<void> {
  const all = [...hooks[when]].map(async (hook) => {
    try {
      await hook();
    } catch (error) {
      console.error(`millrace cluster: on ${when}:`, error);
    }
  });
  await Promise.all(all);
}
