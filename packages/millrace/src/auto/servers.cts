/** The servers of this thread that began to listen since the start: a guard may be wanted for them later. */
import type { Server } from 'node:net';
import { isOwn } from './own.cjs';

const known = new Set<WeakRef<Server>>();
const listeners = new Set<(server: Server) => void>();

/** Told of each server when it listens. It is kept weakly. */
export function noteServer(server: Server): void {
  if (isOwn(server)) return;
  for (const each of known) if (each.deref() === undefined) known.delete(each);
  known.add(new WeakRef(server));
  for (const listener of listeners) listener(server);
}

/** Calls back for those that listen, and from now on for each that begins to. Returns a function that ends this. */
export function watchServers(listener: (server: Server) => void): () => void {
  listeners.add(listener);
  for (const each of known) {
    const server = each.deref();
    if (server?.listening) listener(server);
  }
  return () => listeners.delete(listener);
}
