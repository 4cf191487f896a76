/**
 * Gathers messages in engine.io's own queue. What a connection gets in a turn becomes one packet of its `writeBuffer`: bytes
 * of WebSocket frames that are ready to be sent, as socket.io-adapter makes them for one message. Nothing is sent when it is
 * put there. At the end of the turn the bundles of all connections leave together; wherever a queue holds anything else,
 * engine.io sends it. So order, `close()`, heartbeats, slow clients and what applications send themselves remain its business.
 *
 * A message with a key takes the place of the one of its key that is still in the connection's queue. A bundle knows its keys until
 * it is sent, and puts the newer frames in when its bytes are asked for: so the sequences of connections with the same frames are the
 * same again.
 */
import type { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { announce } from '@millrace/base/sources';
import { nextTick } from '@millrace/base/timers';
import { callEach, Turn } from '@millrace/base/turn';
import { isExiting, joinTurn, listenForExit } from '../../net/turn.js';
import type { Content } from '../content.js';
import { nothing, type Sequence, type SharedFrame } from '../sequence.js';
import { maxContent, type Receiver, Volley } from '../volley.js';
import { Wire } from '../wire.js';
import type { WebSocket } from '../ws-class.js';

/** A connection of engine.io, as far as it is used here. */
export interface Connection extends EventEmitter {
  readonly readyState: string;
  readonly protocol: number;
  readonly transport: Transport;
  /** Packets that have not been handed to the transport. */
  writeBuffer: unknown[];
  readonly server: EventEmitter;
  /** Hands them over, if the transport can take them. */
  flush(): void;
}

interface Transport extends EventEmitter {
  readonly name: string;
  /** False while it sends. */
  writable: boolean;
  readonly supportsBinary: boolean;
  readonly socket?: WebSocket;
  /** Reports, from engine.io 6.4 on, whether it sends `wsPreEncodedFrame` as it is, which it does not with permessage-deflate. */
  _canSendPreEncodedFrame?(packet: unknown): boolean;
}

/** Reports whether a listener sees packets, who must see each of them. */
export function isWatched(connection: Connection): boolean {
  return (
    connection.listenerCount('packetCreate') > 0 ||
    connection.listenerCount('flush') > 0 ||
    connection.server.listenerCount('flush') > 0
  );
}

/**
 * Counters of what is gathered for the clients of socket.io, for all servers together. A frame is a message for one client, with its
 * attachments, and a write is a bundle of them. Superseded: messages whose place a newer one of their key took before they were sent to a
 * client.
 */
export const totals = { frames: 0, writes: 0, superseded: 0 };
let isAnnounced = false;

/** Announces `totals`, once somebody uses it. */
export function announceTotals(): void {
  if (isAnnounced) return;
  isAnnounced = true;
  announce('socket-io', totals, (each) => ({ ...each }));
}

/** A message as frames of WebSocket. */
export interface Frames {
  /** Null if it looks different for this connection. A copy: the application may use its buffers again right away. */
  frameFor(connection: Connection): SharedFrame | null;
  /** A newer message with the same one supersedes it; null: none does. */
  readonly key: string | null;
}

/** Bytes up to which messages are put into one packet, so that a slow client's messages are not joined into a large one. */
const bundleBytes = 64 * 1024;

/** A packet of engine.io that stands for many. */
class Bundle {
  readonly type = 'message';
  readonly compress = true;
  #sequence: Sequence;
  /** The connection's bundles by key, with the frame in them that has the key. Null: none of these frames has one. */
  #keyed: Map<string, Keyed> | null = null;
  /** Newer frames, by those in `#sequence`. */
  #newer: Map<SharedFrame, SharedFrame> | null = null;

  constructor(sequence: Sequence) {
    this.#sequence = sequence;
  }

  get length(): number {
    return this.#sequence.length;
  }

  add(frame: SharedFrame): void {
    this.#sequence = frame.after(this.#sequence);
  }

  /** Notes that a frame of this bundle can be superseded. */
  keep(keyed: Map<string, Keyed>, key: string, frame: SharedFrame): void {
    this.#keyed = keyed;
    keyed.set(key, { bundle: this, frame });
  }

  /** Puts a newer frame in the place of one of these. */
  supersede(frame: SharedFrame, newer: SharedFrame): void {
    this.#newer ??= new Map();
    this.#newer.set(frame, newer);
  }

  /** The frames as they are sent. */
  get sequence(): Sequence {
    if (this.#newer === null) return this.#sequence;
    this.#sequence = this.#sequence.replaced(this.#newer);
    // The frames that have the keys are others from here on.
    for (const one of this.#keyed!.values()) {
      if (one.bundle === this) one.frame = this.#newer.get(one.frame) ?? one.frame;
    }
    this.#newer = null;
    return this.#sequence;
  }

  /** Marks it as being sent: nothing in it can be superseded any more. */
  leaves(): void {
    const keyed = this.#keyed;
    if (keyed === null) return;
    for (const [key, { bundle }] of keyed) if (bundle === this) keyed.delete(key);
    this.#keyed = null;
  }

  get options(): this {
    return this;
  }

  get wsPreEncodedFrame(): readonly [Buffer] {
    const bytes = this.sequence.bytes();
    this.leaves();
    return [bytes];
  }
}

/** A frame that waits, and its bundle. */
interface Keyed {
  readonly bundle: Bundle;
  frame: SharedFrame;
}

/** A packet of no bytes. */
const end = { type: 'message', options: { wsPreEncodedFrame: [Buffer.alloc(0)] } };

/** A connection and its transport. */
class Link implements Receiver {
  readonly connection: Connection;
  readonly transport: Transport;
  /** True if the transport can send bundles. */
  readonly takesBundles: boolean;
  /** True if it has something for the end of the turn. */
  isPending = false;
  /** True once its bundle has been sent natively. */
  isSent = false;
  /** Frames that can be superseded, by key. */
  readonly keyed = new Map<string, Keyed>();
  #wire: Wire | null = null;

  constructor(connection: Connection) {
    const { transport } = connection;
    this.connection = connection;
    this.transport = transport;
    this.takesBundles =
      transport.name === 'websocket' &&
      transport._canSendPreEncodedFrame?.({ options: { wsPreEncodedFrame: [] } }) === true;
    const socket = (transport.socket as { _socket?: unknown } | undefined)?._socket;
    if (this.takesBundles && socket instanceof Socket) this.#wire = Wire.of(socket);
  }

  /** The bundle that can be sent natively right now, because there is nothing else; null: engine.io has to send. */
  get bundle(): Bundle | null {
    const { connection, transport } = this;
    const [bundle] = connection.writeBuffer;
    const isAlone =
      connection.writeBuffer.length === 1 &&
      bundle instanceof Bundle &&
      bundle.length <= maxContent &&
      transport.writable &&
      transport === connection.transport &&
      connection.readyState !== 'closed' &&
      transport.socket!.readyState === 1 &&
      !isWatched(connection);
    return isAlone ? bundle : null;
  }

  /** The descriptor for it, or -1. */
  get fd(): number {
    return this.#wire === null ? -1 : this.#wire.fdFor(null);
  }

  /** Sends what has not been sent, and tells engine.io of what has, as its `flush()` does. */
  finish(): void {
    const { connection } = this;
    if (this.isSent) {
      this.isSent = false;
      connection.emit('drain');
      connection.server.emit('drain', connection);
    } else {
      connection.flush();
    }
  }

  sent(result: number, content: Content): void {
    this.isSent = this.#wire!.settle(result, content);
    // The stream has the rest, and engine.io sends something after it: so it hears when all has left.
    if (!this.isSent) this.connection.writeBuffer = [end];
  }
}

const links = new WeakMap<Connection, Link>();
/** Links that have something for the end of the turn. */
let pending: Link[] = [];
/** Transports that have been given something in this tick. */
const busy = new Turn<Transport>(nextTick, (transports) => {
  for (const transport of transports) transport.writable = true;
});

/**
 * Puts a message into a connection's queue, for the end of this turn. False, and nothing done, if it has to be written in
 * the ordinary way; what is in the queue leaves before it.
 */
export function queue(connection: Connection, message: Frames, isVolatile: boolean): boolean {
  let link = links.get(connection);
  const { transport } = connection;
  if (link?.transport !== transport) {
    link = new Link(connection);
    links.set(connection, link);
  }
  if (!link.takesBundles || connection.readyState !== 'open' || isExiting()) return false;
  if (isWatched(connection)) return false;
  const frame = message.frameFor(connection);
  if (frame === null) return false;
  const { key } = message;
  const older = key === null ? undefined : link.keyed.get(key);
  if (older !== undefined) {
    older.bundle.supersede(older.frame, frame);
    totals.superseded++;
    return true;
  }
  // Dropped, as socket.io would.
  if (isVolatile && !transport.writable) return true;
  const bundle = add(connection.writeBuffer, frame);
  if (key !== null) bundle.keep(link.keyed, key, frame);
  if (transport.writable) occupy(transport);
  if (!link.isPending) {
    link.isPending = true;
    if (pending.push(link) === 1) {
      listenForExit();
      joinTurn(turn);
    }
  }
  return true;
}

function add(writeBuffer: unknown[], frame: SharedFrame): Bundle {
  totals.frames++;
  const last = writeBuffer[writeBuffer.length - 1];
  if (last instanceof Bundle && last.length + frame.data.length <= bundleBytes) {
    last.add(frame);
    return last;
  }
  const bundle = new Bundle(frame.after(nothing));
  writeBuffer.push(bundle);
  totals.writes++;
  return bundle;
}

/**
 * Makes the transport count as sending until this tick ends, as it would without us: volatile packets that follow are dropped,
 * others queue up.
 */
function occupy(transport: Transport): void {
  transport.writable = false;
  busy.add(transport);
}

/** Sends what is queued on all connections, now. */
export function flush(): void {
  busy.flush();
  const ending = pending;
  pending = [];
  for (const link of ending) link.isPending = false;
  sendBundles(ending);
  // A listener that throws must not keep back what others get.
  callEach(ending, (link) => link.finish());
}

const turn = { endTurn: flush };

/** Sends natively what can be. No code of the application runs meanwhile. */
function sendBundles(ending: readonly Link[]): void {
  const volley = Volley.take();
  if (volley === null) return;
  const groups = new Map<Sequence, Link[]>();
  for (const link of ending) {
    const sequence = link.bundle?.sequence;
    if (sequence === undefined || sequence.length > maxContent) continue;
    const group = groups.get(sequence);
    if (group === undefined) groups.set(sequence, [link]);
    else group.push(link);
  }
  for (const [sequence, group] of groups) {
    for (const link of group) {
      const { fd } = link;
      if (fd < 0) continue;
      (link.connection.writeBuffer[0] as Bundle).leaves();
      link.connection.writeBuffer = [];
      volley.add(link, fd, sequence);
    }
  }
  volley.send();
}
