/** Who gathers the writes of a socket: only one can. Fan-out comes first, as it sends the same to many at once. */
import type { Socket } from 'node:net';

interface Coalescer {
  off(): void;
}

const taken = new WeakSet<Socket>();
const coalescers = new WeakMap<Socket, Coalescer>();

/** From now on fan-out gathers what this socket sends; what `net` holds back leaves, and `net` lets go of the socket. */
export function take(socket: Socket): void {
  taken.add(socket);
  coalescers.get(socket)?.off();
  coalescers.delete(socket);
}

export const isTaken = (socket: Socket): boolean => taken.has(socket);

/** To be switched off when fan-out takes the socket. */
export function coalescedBy(socket: Socket, coalescer: Coalescer): void {
  coalescers.set(socket, coalescer);
}
