/** Reports sockets when they connect. Until the first does, nothing of `node:net` is touched. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server, Socket } from 'node:net';

const channels = ['net.server.socket', 'net.client.socket'];

/** What belongs to Millrace itself, such as the dashboard. */
const own = Symbol.for('millrace.own');

type Seen = Socket & { server?: Server | null; _server?: Server | null; [own]?: true };

/** The server that has accepted a socket; null for a client's. */
export function serverOf(socket: Socket): Server | null {
  const { server, _server } = socket as Seen;
  return server ?? _server ?? null;
}

/** Whether a socket has to be left alone. */
export function isOwn(socket: Socket): boolean {
  const server = serverOf(socket) as (Server & { [own]?: true }) | null;
  return (socket as Seen)[own] === true || server?.[own] === true;
}

/** Returns a function that ends this. */
export function watchSockets(onSocket: (socket: Socket) => void): () => void {
  const listener = (message: unknown) => onSocket((message as { socket: Socket }).socket);
  for (const channel of channels) subscribe(channel, listener);
  return () => {
    for (const channel of channels) unsubscribe(channel, listener);
  };
}
