/** Reports sockets when they connect. Until the first does, nothing of `node:net` is touched. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

const channels = ['net.server.socket', 'net.client.socket'];

/** Returns a function that ends this. */
export function watchSockets(onSocket: (socket: Socket) => void): () => void {
  const listener = (message: unknown) => onSocket((message as { socket: Socket }).socket);
  for (const channel of channels) subscribe(channel, listener);
  return () => {
    for (const channel of channels) unsubscribe(channel, listener);
  };
}
