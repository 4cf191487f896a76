/**
 * Accepted connections in batches. One listener of the server pushes each connection into a `BatchEmitter`, whose batch handler gets
 * those of a turn. Between the event and the handler a connection has no listener of the application yet, so this file stands in for it:
 *
 * - An error of the socket, such as a reset by the client, must not end the process. It destroys the socket, which is handed over all the
 *   same: a connection that was accepted is never dropped here.
 * - Data must not be lost. Sockets of Node.js do not flow before somebody reads them. A WebSocket does, so it is paused.
 *
 * Both end right before the handler is called. It runs in the same tick, so it attaches its listeners before anything can happen.
 */
import type { EventEmitter } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import { MillraceError, show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import { BatchEmitter } from '../emitter/emitter.js';
import { type QueueOptions, queueFields, queueOptions } from '../engine/options.js';
import type { QueueStats } from '../engine/stats.js';

/** A connection of a server of `node:net` or `node:tls`. */
export interface AcceptedSocket<Accepted = Socket> {
  socket: Accepted;
}

/** Upgrade request of a client to a server of `node:http` or `node:https`: arguments of the event `upgrade`. */
export interface AcceptedUpgrade {
  request: IncomingMessage;
  socket: Duplex;
  /** First bytes of the new protocol, if the client has sent any. */
  head: Buffer;
}

/** A connection of a server of `ws`. */
export interface AcceptedWebSocket<WebSocket> {
  socket: WebSocket;
  request: IncomingMessage;
}

/** A `WebSocketServer` of `ws`: 6, 7 or 8. */
export interface WebSocketServerLike<WebSocket> {
  on(event: 'connection', listener: (socket: WebSocket, request: IncomingMessage) => void): unknown;
  handleUpgrade(
    request: IncomingMessage,
    socket: any,
    head: Buffer,
    callback: (socket: WebSocket, request: IncomingMessage) => void,
  ): void;
}

/** Options of `batchConnections()`: when a batch leaves, as for every queue. */
export interface ConnectionsOptions
  extends Partial<Omit<QueueOptions, 'order' | 'maxQueue' | 'maxQueueBytes' | 'maxDeferral'>> {}

/** Handle that `batchConnections()` returns. */
export interface ConnectionBatches {
  /** Delivers the waiting connections, inside this call; in the handler, after the current batch. */
  flush(): void;
  /** Delivers the waiting connections, as `flush()` does, and restores the server. Idempotent. */
  off(): void;
  /** Depths and totals of the queue. */
  stats(): QueueStats;
}

export const connectionsSchema = is.schema({
  ...is.omit(queueFields, 'order', 'maxQueue', 'maxQueueBytes', 'maxDeferral'),
} satisfies is.FieldsOf<ConnectionsOptions>);

/** The queue has no bound of its own: each entry is an open descriptor, and `server.maxConnections` bounds those. */
const maxQueue = queueFields.maxQueue.max!;

type Connection = { socket: EventEmitter };

/** A kind of server: the event of its connections, and what has to wait for the handler. */
interface Kind {
  event: string;
  /** Makes an item for the handler of the event's arguments. */
  item(...args: any[]): Connection;
  pause?(socket: any): void;
  resume?(socket: any): void;
}

const accepted = (event: string): Kind => ({ event, item: (socket) => ({ socket }) });
const upgrades: Kind = {
  event: 'upgrade',
  item: (request, socket, head) => ({ request, socket, head }),
};
const webSockets: Kind = {
  event: 'connection',
  item: (socket, request) => ({ socket, request }),
  pause: (socket) => reader(socket).pause(),
  resume: (socket) => reader(socket).resume(),
};

/** Releases of ws before 8.3 have no `pause()`. */
const reader = (socket: any) => (typeof socket.pause === 'function' ? socket : socket._socket);

const batched = new WeakSet<object>();

/**
 * Delivers accepted connections in batches: `handler` gets the list of connections of one loop turn, in order, once at its
 * end. For servers of `node:net` and `node:tls` an item is `{ socket }`, for those of `node:http` and `node:https`, whose
 * upgrade requests it gets, `{ request, socket, head }`, and for a `WebSocketServer` of `ws` `{ socket, request }`.
 *
 * Since libuv 1.45 (Node.js 20.3) a listening socket accepts one connection a turn. So without a `maxDelay` a batch of a `net.Server` has
 * one. Upgrades and WebSockets come by reads, several in a turn. It saves no CPU by itself: use it where something is done once for a batch.
 *
 * No connection is dropped: a connection whose client has left meanwhile has a destroyed `socket`, whose `errored` says why.
 * An error before the handler is called does not end the process, and data that the client sends by then waits in the socket;
 * a WebSocket is paused until then. A handler that attaches its listeners before its first `await` misses nothing. Its error
 * or rejection is thrown as an uncaught exception after the batch. It runs in the async context of the batch's first
 * connection.
 *
 * A server that does not listen is accepted: it may listen later. Throws MILLRACE_E_INVALID_ARGUMENT for any other server,
 * for a handler that is not a function, and for a server whose connections are batched already; MILLRACE_E_INVALID_OPTION for
 * an unknown option or a bad value. Costs a queue entry and two calls on the socket per connection, and one `setImmediate`
 * per batch.
 */
export function batchConnections(
  server: HttpServer | HttpsServer,
  handler: (connections: AcceptedUpgrade[]) => unknown,
  options?: ConnectionsOptions,
): ConnectionBatches;
export function batchConnections(
  server: TlsServer,
  handler: (connections: AcceptedSocket<TLSSocket>[]) => unknown,
  options?: ConnectionsOptions,
): ConnectionBatches;
export function batchConnections(
  server: Server,
  handler: (connections: AcceptedSocket[]) => unknown,
  options?: ConnectionsOptions,
): ConnectionBatches;
export function batchConnections<WebSocket>(
  server: WebSocketServerLike<WebSocket>,
  handler: (connections: AcceptedWebSocket<WebSocket>[]) => unknown,
  options?: ConnectionsOptions,
): ConnectionBatches;
export function batchConnections(
  server: object,
  handler: (connections: any[]) => unknown,
  options: ConnectionsOptions = {},
): ConnectionBatches {
  const { event, item, pause, resume } = kindOf(server);
  if (typeof handler !== 'function') {
    throw invalid(
      `batchConnections() needs a handler as its second argument, not ${show(handler)}`,
    );
  }
  const queue = queueOptions(parse('batchConnections()', options, connectionsSchema));
  if (batched.has(server)) {
    throw invalid(
      'the connections of this server are batched already; call off() of what the first batchConnections() returned',
    );
  }
  const batches = new BatchEmitter<{ connection: [Connection] }>({ ...queue, maxQueue });
  batches.onBatch('connection', (connections) => {
    for (const { socket } of connections) {
      socket.removeListener('error', ignore);
      resume?.(socket);
    }
    return handler(connections);
  });
  const onConnection = (...args: unknown[]): void => {
    const connection = item(...args);
    connection.socket.on('error', ignore);
    pause?.(connection.socket);
    batches.emit('connection', connection);
  };
  (server as EventEmitter).on(event, onConnection);
  batched.add(server);
  let isOn = true;
  return {
    flush: () => batches.flush(),
    off() {
      if (!isOn) return;
      isOn = false;
      (server as EventEmitter).removeListener(event, onConnection);
      batched.delete(server);
      batches.close();
    },
    stats: () => batches.stats(),
  };
}

/** The socket is destroyed by its error, and says so. */
function ignore(): void {}

/** Detects the kind of a server by its methods, without loading the modules of all kinds. */
function kindOf(server: unknown): Kind {
  const has = (name: string) => typeof (server as any)?.[name] === 'function';
  if (has('handleUpgrade') && has('shouldHandle') && has('on')) return webSockets;
  if (has('updateSettings')) {
    throw invalid('the server is one of node:http2, which has streams; pass a server of node:http');
  }
  if (has('closeIdleConnections') && has('on')) return upgrades;
  if (server instanceof Server) {
    return accepted(has('setSecureContext') ? 'secureConnection' : 'connection');
  }
  throw invalid(
    `the server is ${show(server)}; it must be a server of node:net, node:tls, node:http or node:https, or a WebSocketServer of ws`,
  );
}

const invalid = (message: string) => new MillraceError('MILLRACE_E_INVALID_ARGUMENT', message);
