/** The in-memory adapter except for its last step: what it writes to its clients is gathered until the end of the turn. */
import { createRequire } from 'node:module';
import { MillraceError, show } from '@millrace/base/errors';
import { applicationPlaces } from '@millrace/base/installed';
import { isArrayBuffer } from '@millrace/base/realm';
import { thisPackage } from '../../package.cjs';
import { encode } from '../frame.js';
import { SharedFrame } from '../sequence.js';
import { type Connection, type Frames, flush, queue } from './engine-io.js';

/** The part of socket.io that is used; its types are not imported, because most users of this package do not have it. */
export interface WriteOptions {
  readonly volatile?: boolean | undefined;
}

export interface Client {
  readonly conn: Connection;
  writeToEngine(encoded: unknown, options: WriteOptions): void;
}

interface Socket {
  readonly client: Client;
  readonly acks: Map<number, unknown>;
  notifyOutgoingListeners(packet: unknown): void;
}

/** A packet of a broadcast: an event and its arguments. */
interface Packet {
  readonly data: readonly unknown[];
}

/** The key of a packet: a string or a number; undefined: it has none. */
type KeyOf = (packet: Packet) => unknown;

/** The part of its target that a broadcast's key belongs to. */
interface Target {
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
  /** The adapter that was there before: at first the one that the server has chosen itself. */
  readonly adapter?: object;
}

/** The class that a server takes when it is given no adapter. Throws MILLRACE_E_INVALID_ARGUMENT when there is none, or another version. */
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

/** Returns a class whose broadcasts are gathered. `keyOf` says the key of a packet, if it has one. */
export function gathering(Base: AdapterClass, keyOf: KeyOf | null): AdapterClass {
  return class MillraceAdapter extends Base {
    /** The options of the broadcast that is under way: how its call of `apply()` is told from any other. */
    #broadcasting: object | null = null;
    #key: string | null = null;

    override broadcast(packet: unknown, options: Target): void {
      const key = keyOf?.(packet as Packet);
      this.#key = key === undefined ? null : idOf(this.nsp.name, options, key);
      this.#broadcasting = options;
      try {
        super.broadcast(packet, options);
      } finally {
        this.#broadcasting = null;
        this.#key = null;
      }
    }

    override broadcastWithAck(
      packet: unknown,
      options: object,
      onCount: unknown,
      ack: unknown,
    ): void {
      this.#broadcasting = options;
      try {
        super.broadcastWithAck(packet, options, onCount, ack);
      } finally {
        this.#broadcasting = null;
      }
    }

    override apply(options: object, callback: (socket: Socket) => void): void {
      if (options !== this.#broadcasting) {
        super.apply(options, callback);
        return;
      }
      const recipient = new Recipient(this.#key);
      super.apply(options, (socket) => {
        recipient.socket = socket;
        callback(recipient);
      });
    }

    override close(): unknown {
      // The server closes its connections next, without waiting for what is queued.
      flush();
      return super.close();
    }
  };
}

/** Identity of a message with a key: one of the same namespace, rooms and key is superseded. */
function idOf(namespace: string, { rooms = [] }: Target, key: unknown): string {
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the option 'key' of the adapter returned ${show(key)}; it must return a string, a number, or undefined for no key`,
    );
  }
  return JSON.stringify([namespace, [...rooms], typeof key, String(key)]);
}

/** Comes before the callback of a broadcast, for one socket after the other, with a client that gathers. */
class Recipient implements Socket, Client {
  socket!: Socket;
  #message: Message | null = null;
  readonly #key: string | null;

  constructor(key: string | null) {
    this.#key = key;
  }

  get client(): Client {
    return this;
  }

  get conn(): Connection {
    return this.socket.client.conn;
  }

  get acks(): Map<number, unknown> {
    return this.socket.acks;
  }

  notifyOutgoingListeners(packet: unknown): void {
    this.socket.notifyOutgoingListeners(packet);
  }

  writeToEngine(encoded: unknown, options: WriteOptions): void {
    this.#message ??= new Message(encoded, this.#key);
    const { client } = this.socket;
    if (!queue(client.conn, this.#message, options.volatile === true)) {
      client.writeToEngine(encoded, options);
    }
  }
}

/** A packet that socket.io has encoded for many connections: as frames of WebSocket, once, when the first of them wants these. */
class Message implements Frames {
  readonly key: string | null;
  readonly #parts: readonly unknown[];
  #frame: SharedFrame | null | undefined;
  #isBinary = false;

  /** `encoded`: a string or bytes, or several of them that belong together. */
  constructor(encoded: unknown, key: string | null) {
    this.key = key;
    this.#parts = Array.isArray(encoded) ? encoded : [encoded];
  }

  frameFor({ protocol, transport }: Connection): SharedFrame | null {
    if (this.#frame === undefined) this.#frame = this.#encode();
    // Binary messages have a type byte in version 3 of the protocol, and are text for clients that want base64.
    if (this.#isBinary && (protocol !== 4 || !transport.supportsBinary)) return null;
    return this.#frame;
  }

  #encode(): SharedFrame | null {
    const frames: Buffer[] = [];
    for (const part of this.#parts) {
      if (typeof part === 'string') {
        // "4" is the type `message` of engine.io.
        frames.push(encode(`4${part}`, false));
      } else if (ArrayBuffer.isView(part)) {
        this.#isBinary = true;
        frames.push(encode(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), true));
      } else if (isArrayBuffer(part)) {
        this.#isBinary = true;
        frames.push(encode(new Uint8Array(part), true));
      } else {
        return null;
      }
    }
    return new SharedFrame(frames.length === 1 ? frames[0]! : Buffer.concat(frames));
  }
}
