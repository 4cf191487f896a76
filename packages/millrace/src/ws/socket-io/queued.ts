/**
 * Broadcasts of socket.io under `millrace/auto`. The first packet of a tick for a connection leaves at once. Those that follow have to
 * wait in the queue of engine.io until it has been written, and are sent there one after the other. Here the broadcasts among them become
 * one packet: the bytes of all their frames, which connections that get the same broadcasts share. All else, and so when a packet
 * leaves, which volatile one is dropped and what precedes what, is decided by socket.io and engine.io.
 *
 * A broadcast is left alone if its server has another adapter than an in-memory one of socket.io itself, if it is not one frame of
 * text, and on every connection that is not an open WebSocket without compression, or
 * whose packets somebody watches.
 */
import { Socket } from 'node:net';
import { patchMethod } from '@millrace/base/patch';
import { nothing, type Sequence, SharedFrame } from '../sequence.js';
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

  get options(): this {
    return this;
  }

  get wsPreEncodedFrame(): FrameParts {
    return this.sequence.parts();
  }
}

/** A client as socket.io itself makes it. */
interface ServerClient extends Client {
  /** `adapter()` returns the class that the server's namespaces take. */
  readonly server: { adapter(): { readonly name: string } };
}

/** The class of the clients of a socket.io server. */
export interface ClientClass {
  readonly prototype: ServerClient;
}

/** The adapters of socket.io-adapter that know no other servers, by name: there may be several copies. */
const isInMemory = ({ server }: ServerClient): boolean => {
  const { name } = server.adapter();
  return name === 'Adapter' || name === 'SessionAwareAdapter';
};

/** From now on the broadcasts that wait for its clients are queued as one. Returns a function that ends this. */
export function queueTogether(Class: ClientClass): () => void {
  announceTotals();
  let isOn = true;
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
          isInMemory(this) &&
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
  };
}

/** Adds a frame to the connection's queue; false, and nothing done, if socket.io has to. */
function queue(connection: Connection, options: BroadcastOptions): boolean {
  const room = roomOf(connection);
  if (room === 0) return false;
  options[key] ??= new SharedFrame(Buffer.concat(options.wsPreEncodedFrame!.map(bytesOf)));
  const frame = options[key];
  const { writeBuffer } = connection;
  let last = writeBuffer[writeBuffer.length - 1];
  if (!(last instanceof QueuedFrames) || last.sequence.length + frame.data.length >= room) {
    if (frame.data.length >= room) return false;
    last = new QueuedFrames();
    writeBuffer.push(last);
    totals.writes++;
  }
  const queued = last as QueuedFrames;
  queued.sequence = frame.after(queued.sequence);
  totals.frames++;
  return true;
}

/** Bytes that one packet may have: a stream that is given fewer does not count as full. 0: its packets are left alone. */
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
