/** When an exchange is over, for pipelined ones too. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be called when a connection closes: with one listener on it, however many requests are pipelined. */
const waiting = new WeakMap<Socket, Set<() => void>>();

/** Calls `fn` once, when the answer has been sent or its connection is closed. */
export function onceClosed(req: IncomingMessage, res: ServerResponse, fn: () => void): void {
  const { socket } = req;
  // An answer that waits behind another one of its connection has no socket yet. Node.js 20 and 22 do not close it if the
  // connection closes meanwhile.
  if (res.socket !== null || !socket || socket.destroyed) {
    res.once('close', fn);
    return;
  }
  const pending = pendingOf(socket);
  const closed = () => {
    if (pending.delete(closed)) fn();
  };
  pending.add(closed);
  res.once('close', closed);
}

function pendingOf(socket: Socket): Set<() => void> {
  let pending = waiting.get(socket);
  if (pending === undefined) {
    const all = new Set<() => void>();
    waiting.set(socket, all);
    socket.once('close', () => {
      for (const closed of all) closed();
    });
    pending = all;
  }
  return pending;
}
