/** The in-memory adapter except for its last step: what it writes to its clients is gathered until the end of the turn. */
import { MillraceError, show } from '@millrace/base/errors';
import { isArrayBuffer } from '@millrace/base/realm';
import { encode } from '../frame.js';
import { SharedFrame } from '../sequence.js';
import type { Connection } from './connection.js';
import { type Frames, flush, queue } from './engine-io.js';
import type {
  AdapterClass,
  Client,
  KeyOf,
  Packet,
  Socket,
  Target,
  WriteOptions,
} from './in-memory.js';

/** The same class, but what it broadcasts is gathered. `keyOf` says the key of a packet, if it has one. */
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
