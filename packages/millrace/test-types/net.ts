// coalesce() and batchConnections() as their users' compilers see them.
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket, Server as TlsServer } from 'node:tls';
import {
  batchConnections,
  type CoalesceOptions,
  type Coalescer,
  type CoalesceStats,
  type ConnectionBatches,
  coalesce,
} from 'millrace/net';
import type { WebSocket, WebSocketServer } from 'ws';

declare const socket: Socket;

const options: CoalesceOptions = { maxPendingBytes: 4096 };
const coalescer: Coalescer = coalesce(socket, options);
coalesce(socket);
// @ts-expect-error: no such option
coalesce(socket, { maxPending: 1 });
// @ts-expect-error: a number of bytes
coalesce(socket, { maxPendingBytes: '4 KiB' });
// @ts-expect-error: a socket is needed
coalesce('localhost:6379');

const stats: CoalesceStats = coalescer.stats();
const saved: number = stats.coalesced - stats.flushes + stats.writes;
coalescer.flush();
coalescer.off();
// @ts-expect-error: made by coalesce() alone
coalescer.endTurn();

void saved;

declare const servers: { net: Server; tls: TlsServer; http: HttpServer; ws: WebSocketServer };

batchConnections(servers.net, ([connection]) => {
  const accepted: Socket = connection!.socket;
  void accepted;
});
batchConnections(servers.tls, async ([connection]) => {
  const accepted: TLSSocket = connection!.socket;
  await accepted;
});
batchConnections(servers.http, ([upgrade]) => {
  const {
    request,
    socket: accepted,
    head,
  }: { request: IncomingMessage; socket: Duplex; head: Buffer } = upgrade!;
  void [request, accepted, head];
});
const batches: ConnectionBatches = batchConnections(
  servers.ws,
  (connections) => {
    for (const { socket: accepted, request } of connections) {
      const webSocket: WebSocket = accepted;
      webSocket.send(request.url ?? '');
    }
  },
  { maxBatch: 100, maxDelay: 5 },
);
// @ts-expect-error: connections of a server have no request
batchConnections(servers.net, ([connection]) => connection!.request);
// @ts-expect-error: no such option
batchConnections(servers.net, () => {}, { maxQueue: 5 });
// @ts-expect-error: a server is needed
batchConnections(8080, () => {});
batches.off();
const held: number = batches.stats().queued;
void held;
