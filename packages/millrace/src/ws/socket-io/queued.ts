/**
 * Broadcasts of socket.io under `millrace/auto`. The first packet of a tick for a connection leaves at once. Those that follow have to
 * wait in the queue of engine.io until it has been written, and are sent there one after the other. Here the broadcasts among them become
 * one packet: the bytes of all their frames, which connections that get the same broadcasts share. The first packets of one broadcast leave
 * together when its loop over the clients ends. socket.io and engine.io decide all else: when a packet leaves, which volatile one is
 * dropped and what precedes what.
 *
 * A broadcast is left alone if its server has another adapter than an in-memory one of socket.io itself, if it is not one frame of
 * text, and on every connection that is not an open WebSocket without compression, or whose packets somebody watches.
 */
import { Socket } from 'node:net';
import { type Method, type Patch, patchMethod } from '@millrace/base/patch';
import { nothing, type Sequence, SharedFrame } from '../sequence.js';
import { beginBroadcast, endBroadcast } from '../transparent.js';
import type { FrameParts } from '../ws-class.js';
import { announceTotals, type Connection, isWatched, totals } from './engine-io.js';
import type { Client, WriteOptions } from './gathering.js';

/** Options of a broadcast, which all its clients share. */
interface BroadcastOptions extends WriteOptions {
  /** The frame of a packet that is one text: its header and its payload. */
  readonly wsPreEncodedFrame?: FrameParts;
  [key]?: SharedFrame;
}

const key = Symbol('millrace.frame');

/** A packet of engine.io that stands for several. Is in the queue of one connection. */
class QueuedFrames {
  readonly type = 'message';
  readonly compress = true;
  sequence: Sequence = nothing;
  /** Bytes that it may have: a stream that is given fewer does not count as full. */
  readonly #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  /** Adds a frame; false, and nothing done, if it has no room. */
  add(frame: SharedFrame): boolean {
    if (this.sequence.length + frame.data.length >= this.#room) return false;
    this.sequence = frame.after(this.sequence);
    totals.frames++;
    return true;
  }

  get options(): this {
    return this;
  }

  get wsPreEncodedFrame(): FrameParts {
    return this.sequence.parts();
  }
}

/** The class that the namespaces of a server take. */
interface Adapter {
  readonly name: string;
  readonly prototype: object;
}

/** A client as socket.io itself makes it. */
interface ServerClient extends Client {
  readonly server: { adapter(): Adapter };
}

/** The class of the clients of a socket.io server. */
export interface ClientClass {
  readonly prototype: ServerClient;
}

/** The methods of adapters that write to one client after the other. */
const loops = ['broadcast', 'broadcastWithAck'];

/** The adapters of socket.io-adapter that know no other servers, by name: there may be several copies. */
class InMemoryAdapters {
  #patches: Patch[] = [];
  readonly #patched = new Set<object>();
  /** The last class that was asked for: mostly there is one. */
  #last: Adapter | null = null;
  #isLast = false;

  /** Reports whether the server has one. Its broadcasts are such for the gatherers of ws from then on. */
  isOf({ server }: ServerClient): boolean {
    const Class = server.adapter();
    if (Class === this.#last) return this.#isLast;
    this.#last = Class;
    this.#isLast = Class.name === 'Adapter' || Class.name === 'SessionAwareAdapter';
    if (this.#isLast) this.#patch(Class.prototype);
    return this.#isLast;
  }

  #patch(adapters: object): void {
    // The adapter that keeps sessions calls the methods of the one from which it is derived.
    let owner: object | null = adapters;
    while (owner !== null && !Object.hasOwn(owner, 'broadcastWithAck')) {
      owner = Object.getPrototypeOf(owner) as object | null;
    }
    if (owner === null || this.#patched.has(owner)) return;
    this.#patched.add(owner);
    for (const name of loops) this.#patches.push(patchMethod(owner, name, asBroadcast));
  }

  end(): void {
    for (const patch of this.#patches) patch.undo();
    this.#patches = [];
  }
}

const asBroadcast = (original: Method): Method =>
  function (this: unknown, ...args: unknown[]) {
    beginBroadcast();
    try {
      return Reflect.apply(original, this, args);
    } finally {
      endBroadcast();
    }
  };

/** Queues the broadcasts that wait for its clients as one. Returns a function that ends this. */
export function queueTogether(Class: ClientClass): () => void {
  announceTotals();
  let isOn = true;
  const adapters = new InMemoryAdapters();
  const patch = patchMethod(
    Class.prototype,
    'writeToEngine',
    (original) =>
      function writeToEngine(this: ServerClient, encoded: unknown, options: BroadcastOptions) {
        const { conn } = this;
        // Packets that can be written leave at once; volatile ones are dropped meanwhile.
        if (
          isOn &&
          options?.wsPreEncodedFrame !== undefined &&
          conn.transport.writable === false &&
          !options.volatile &&
          adapters.isOf(this) &&
          queue(conn, options)
        ) {
          return;
        }
        original.call(this, encoded, options);
      },
  );
  return () => {
    isOn = false;
    patch.undo();
    adapters.end();
  };
}

/** Adds a frame to the connection's queue; false, and nothing done, if socket.io has to. */
function queue(connection: Connection, options: BroadcastOptions): boolean {
  const { writeBuffer } = connection;
  const last = writeBuffer[writeBuffer.length - 1];
  if (last instanceof QueuedFrames && isQuiet(connection) && last.add(frameOf(options)))
    return true;
  const room = roomOf(connection);
  if (room === 0) return false;
  const added = new QueuedFrames(room);
  if (!added.add(frameOf(options))) return false;
  writeBuffer.push(added);
  totals.writes++;
  return true;
}

/** The frame of a broadcast, the same for all its clients. */
function frameOf(options: BroadcastOptions): SharedFrame {
  options[key] ??= new SharedFrame(Buffer.concat(options.wsPreEncodedFrame!.map(bytesOf)));
  return options[key];
}

/** Reports whether no listener sees a packet that joins the queue. */
const isQuiet = (connection: Connection): boolean =>
  connection.readyState === 'open' && connection.listenerCount('packetCreate') === 0;

/** Bytes that one packet may have. 0: the connection's packets are left alone. */
function roomOf(connection: Connection): number {
  const { transport, readyState } = connection;
  if (
    transport.name !== 'websocket' ||
    readyState !== 'open' ||
    transport._canSendPreEncodedFrame?.(probe) !== true ||
    isWatched(connection)
  ) {
    return 0;
  }
  const socket = (transport.socket as { readonly _socket?: unknown } | undefined)?._socket;
  return socket instanceof Socket ? socket.writableHighWaterMark : 0;
}

const probe = { options: { wsPreEncodedFrame: [] } };

const bytesOf = (part: Buffer | string): Buffer =>
  typeof part === 'string' ? Buffer.from(part) : part;
