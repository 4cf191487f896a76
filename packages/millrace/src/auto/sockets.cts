/**
 * The sockets and servers of this thread, as the parts of auto share them: which are left alone, who gathers the writes of a socket, and
 * which servers listen, since a guard may be wanted for them later. Only one can gather what a socket sends. Fan-out comes first, as it
 * sends the same to many at once: when it takes a socket, what `net` holds back leaves, and `net` lets go of the socket. Nothing here
 * keeps a socket or a server alive.
 */
import type { Server, Socket } from 'node:net';

/**
 * Marks servers and sockets of Millrace itself, such as the dashboard's, which are not part of the application. A symbol of the registry:
 * several copies of this package may be in a process.
 */
const own = Symbol.for('millrace.own');

type Marked = { readonly [own]?: true };

export function markOwn<Item extends object>(object: Item): Item {
  Object.defineProperty(object, own, { value: true });
  return object;
}

/** The server that has accepted a socket; null for a client's, and for a server. */
export function serverOf(object: object): Server | null {
  const { server, _server } = object as { server?: Server | null; _server?: Server | null };
  return server ?? _server ?? null;
}

/** Reports whether it is Millrace's own: a server, or a socket, or one that such a server has accepted. */
export function isOwn(object: object): boolean {
  return (object as Marked)[own] === true || (serverOf(object) as Marked | null)?.[own] === true;
}

/** Reports whether a socket is the application's, and carries plain bytes: no TLS, no terminal, no stream of `process`. */
export function isPlain(socket: Socket): boolean {
  const { encrypted, isTTY, fd } = socket as { encrypted?: unknown; isTTY?: unknown; fd?: unknown };
  return encrypted !== true && isTTY !== true && typeof fd !== 'number' && !isOwn(socket);
}

const taken = new WeakSet<Socket>();
const coalescers = new WeakMap<Socket, { off(): void }>();

/** Has fan-out gather the frames of this socket from now on. */
export function take(socket: Socket): void {
  taken.add(socket);
  coalescers.get(socket)?.off();
  coalescers.delete(socket);
}

export const isTaken = (socket: Socket): boolean => taken.has(socket);

/** Records a coalescer, to be switched off when fan-out takes the socket. */
export function coalescedBy(socket: Socket, coalescer: { off(): void }): void {
  coalescers.set(socket, coalescer);
}

const servers = new Set<WeakRef<Server>>();
const listeners = new Set<(server: Server) => void>();

/** Called for each server when it listens. */
export function noteServer(server: Server): void {
  if (isOwn(server)) return;
  for (const each of servers) if (each.deref() === undefined) servers.delete(each);
  servers.add(new WeakRef(server));
  for (const listener of listeners) listener(server);
}

/** Calls back for servers that listen, and from now on for each that begins to. Returns a function that ends this. */
export function watchServers(listener: (server: Server) => void): () => void {
  listeners.add(listener);
  for (const each of servers) {
    const server = each.deref();
    if (server?.listening) listener(server);
  }
  return () => listeners.delete(listener);
}

/** Objects to come back to, as long as somebody else keeps them. */
export class WeakList<Item extends object> {
  #places: WeakRef<Item>[] = [];
  #sweepAt = 64;

  add(item: Item): void {
    this.#places.push(new WeakRef(item));
    if (this.#places.length < this.#sweepAt) return;
    this.#places = this.#places.filter((place) => place.deref() !== undefined);
    this.#sweepAt = Math.max(64, 2 * this.#places.length);
  }

  /** The objects that are still there. Empties the list. */
  take(): Item[] {
    const places = this.#places.splice(0);
    return places.map((place) => place.deref()).filter((item) => item !== undefined);
  }
}
