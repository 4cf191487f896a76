/** The class that a server takes when it is given no adapter. */
import { createRequire } from 'node:module';
import { MillraceError, show } from '@millrace/base/errors';
import { applicationPlaces } from '@millrace/base/installed';
import { thisPackage } from '../../package.cjs';
import type { Connection } from './connection.js';

/** What is used of socket.io; its types are not imported, because most users of this package do not have it. */
export interface WriteOptions {
  readonly volatile?: boolean | undefined;
}

export interface Client {
  readonly conn: Connection;
  writeToEngine(encoded: unknown, options: WriteOptions): void;
}

export interface Socket {
  readonly client: Client;
  readonly acks: Map<number, unknown>;
  notifyOutgoingListeners(packet: unknown): void;
}

/** A packet of a broadcast: an event and its arguments. */
export interface Packet {
  readonly data: readonly unknown[];
}

/** The key of a packet: a string or a number; undefined: it has none. */
export type KeyOf = (packet: Packet) => unknown;

/** The part of its target that a broadcast's key belongs to. */
export interface Target {
  readonly rooms?: Iterable<string>;
}

interface Adapter {
  readonly nsp: { readonly name: string };
  broadcast(packet: unknown, options: Target): void;
  broadcastWithAck(packet: unknown, options: object, onCount: unknown, ack: unknown): void;
  apply(options: object, callback: (socket: Socket) => void): void;
  close(): unknown;
  restoreSession(id: string, offset: string): unknown;
}

export type AdapterClass = new (namespace: never) => Adapter;

export interface Namespace {
  readonly server: { readonly opts?: { readonly connectionStateRecovery?: unknown } };
  /** What was there before: at first the adapter that the server has chosen itself. */
  readonly adapter?: object;
}

/** Throws MILLRACE_E_INVALID_ARGUMENT when there is none, or another version. */
export function inMemoryAdapter({ server, adapter }: Namespace): AdapterClass {
  const isRecovering = Boolean(server.opts?.connectionStateRecovery);
  const name = isRecovering ? 'SessionAwareAdapter' : 'Adapter';
  // The server's own, if it was made without one; otherwise there may be a copy where the application finds socket.io.
  const own = adapter?.constructor;
  const Class = own?.name === name ? own : findAdapters()[name];
  const { apply, restoreSession } = (Class?.prototype ?? {}) as Partial<Adapter>;
  if (typeof apply !== 'function' || typeof restoreSession !== 'function') {
    throw unsupported(`its in-memory adapter is ${show(Class)} without restoreSession()`);
  }
  return Class as AdapterClass;
}

export function unsupported(what: string): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${what}; millraceAdapter() is for io.adapter() of socket.io 4, from 4.6 on`,
  );
}

/** `socket.io-adapter` as socket.io itself loads it: packages need not be laid flat. */
function findAdapters(): Record<string, AdapterClass | undefined> {
  let reason: unknown;
  for (const place of [...applicationPlaces(), ...thisPackage.places]) {
    try {
      return createRequire(createRequire(place).resolve('socket.io'))('socket.io-adapter');
    } catch (error) {
      reason = error;
    }
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    'socket.io-adapter cannot be found; make the server without an adapter, then call io.adapter(millraceAdapter())',
    { cause: reason },
  );
}
