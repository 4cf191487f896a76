/**
 * Member of rooms: the rooms it is in, and what it has not taken yet. A member that does not keep up has a backlog of its own,
 * bounded in bytes, so that it costs nobody else anything. How it is written to depends on what it is: a WebSocket, below, or an event
 * stream (stream-member.ts).
 */
import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { MillraceError, show } from '@millrace/base/errors';
import {
  LOW,
  NORMAL,
  type Priority,
  type PriorityClass,
  priorities,
} from '@millrace/base/priority';
import { clearTimeout, nextTick, performance, setTimeout } from '@millrace/base/timers';
import type { TypeEntry } from '../engine/queue.js';
import { type Aging, Backlog, type Chunk } from './backlog.js';
import { type Frame, Joined } from './frame.js';
import { Pace } from './pace.js';
import { maxContent, type Receiver } from './volley.js';
import { Wire } from './wire.js';
import { isAtRest, type Sender, type WebSocket } from './ws-class.js';

/** The response of a request by HTTP/1 or HTTP/2. */
export type StreamResponse = ServerResponse | Http2ServerResponse;

/** A connection that can join a room. */
export type Connection = WebSocket | StreamResponse;

const responseMethods = ['write', 'end', 'setHeader', 'flushHeaders'] as const;

export function isResponse(connection: Connection): connection is StreamResponse {
  const candidate = connection as unknown as Record<string, unknown> | null | undefined;
  return responseMethods.every((name) => typeof candidate?.[name] === 'function');
}

/** The parts of a connection that we use must be there, including `_socket`, which ws does not document. */
export function checkConnection(connection: unknown): void {
  const candidate = connection as {
    on?: unknown;
    readyState?: unknown;
    extensions?: unknown;
    _socket?: { on?: unknown; write?: unknown } | null;
  } | null;
  if (
    typeof candidate?.readyState === 'number' &&
    // WebSockets of Deno, Bun and browsers have no such method.
    typeof candidate.on === 'function' &&
    typeof candidate.extensions === 'string' &&
    (candidate.readyState !== 1 ||
      (typeof candidate._socket?.on === 'function' &&
        typeof candidate._socket.write === 'function'))
  ) {
    return;
  }
  if (isResponse(connection as Connection)) return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the socket is ${show(connection)}; it must be a WebSocket of the ws package, version 8, or the response of a request (in Fastify reply.raw, in Koa ctx.res)`,
  );
}

/** Treatment of a member whose backlog passes `maxPending`. */
export type SlowPolicy = 'close' | 'drop-low' | 'drop-normal';

/** Classes that a policy may drop, in this order, before it closes the member. */
const droppable: Readonly<Record<SlowPolicy, readonly PriorityClass[]>> = {
  close: [],
  'drop-low': [LOW],
  'drop-normal': [LOW, NORMAL],
};

/** Argument of `onSlow`: a slow member lost messages or was closed. */
export interface SlowInfo {
  readonly socket: Connection;
  /**
   * Treatment of the member. `dropped`: messages were skipped; `closed`: a socket was closed with 1013, the response of an
   * event stream destroyed.
   */
  readonly action: 'dropped' | 'closed';
  /** Messages skipped, and their class (`closed`: of all classes). */
  readonly frames: number;
  readonly priority: Priority | null;
  /** Bytes in the member's backlog at that time. */
  readonly pendingBytes: number;
}

export interface SlowOptions {
  readonly maxPending: number;
  readonly slow: SlowPolicy;
  readonly maxLag: number;
  readonly onSlow: ((info: SlowInfo) => void) | undefined;
  /** Aging of the frames in a backlog. */
  readonly aging: Aging;
}

/** Sums of the writes of members; shared by all of one `Rooms`. */
export interface Written {
  sends: number;
  deliveries: number;
  bytes: number;
  dropped: [number, number, number];
  slowSuperseded: number;
  slowClosed: number;
}

/** Time in ms that a slow member may take for half of what is more than `maxPending` of one turn. */
const graceMs = 1000;
/** Size of the pieces in which a backlog is written, in bytes. */
const pieceBytes = 64 * 1024;

export abstract class Member<C extends Chunk = Chunk> {
  abstract readonly connection: Connection;
  abstract readonly isStream: boolean;
  readonly rooms = new Set<Room>();
  protected readonly options: SlowOptions;
  protected readonly written: Written;
  protected backlog: Backlog<C> | null = null;
  /** Set by `releaseWhenDrained`. */
  protected isLeaving = false;
  #overdue: NodeJS.Timeout | null = null;
  /** Bytes that were pending when `#overdue` was set; `maxPending` while it is not. */
  #allowed: number;
  /** Set by `end`: the close that follows when nothing is queued for the member any more. */
  #ending: { code: number | undefined; reason: string | undefined } | null = null;
  #nothingQueued = false;

  constructor(options: SlowOptions, written: Written) {
    this.options = options;
    this.#allowed = options.maxPending;
    this.written = written;
  }

  // ---- what a kind of member knows

  /** False if it is closing or gone, or with its stream ended or destroyed, which is noticed a little later. */
  abstract get isOpen(): boolean;
  /** Bytes that wait in its streams for the kernel to take them. */
  protected abstract get bufferedBytes(): number;
  /**
   * Reports whether its stream takes more now, and is not in the middle of something that must not be cut in two. If not,
   * `drain` is called later.
   */
  protected abstract isReady(): boolean;
  /** Reports whether it takes more, between two pieces of a backlog. */
  protected abstract get takesMore(): boolean;
  /** Calls `drain` when a backlog may go on. Never throws: a member whose write fails harms no other. `isBehind`: more is pending than is allowed. */
  protected abstract send(content: Joined<C>, isBehind: boolean): void;
  protected abstract close(code: number | undefined, reason: string | undefined): void;
  /** Ends a slow member, whatever it has not taken. */
  protected abstract cutOff(): void;

  /** Bytes that may be written at once. */
  protected get mostAtOnce(): number {
    return this.options.maxPending;
  }

  /** Bytes that may be on their way beside those that are. */
  protected get room(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Room for messages the first of which may have a key. */
  protected roomFor(_content: Joined<C>): number {
    return this.room;
  }

  /** Reports whether `room` says what is kept back. */
  protected get isPaced(): boolean {
    return false;
  }

  /** The client has taken what was compressed for it; what is pending waits for the compressor. */
  protected get isCompressing(): boolean {
    return false;
  }

  // ---- its life

  /** Stops listening to the connection. */
  release(): void {
    if (this.#overdue !== null) clearTimeout(this.#overdue);
    this.backlog = null;
  }

  /** Releases the member when what waits is written. */
  releaseWhenDrained(): void {
    this.isLeaving = true;
    if (this.backlog === null) this.release();
    else this.drain();
  }

  /** Bytes that wait here, in the streams or for the kernel to take them. */
  get pendingBytes(): number {
    return this.bufferedBytes + (this.backlog?.bytes ?? 0);
  }

  /** Notes that the member is to be closed when what is queued has been written. */
  end(code: number | undefined, reason: string | undefined): void {
    this.#ending ??= { code, reason };
    this.drain();
  }

  get isEnding(): boolean {
    return this.#ending !== null;
  }

  /** Closes an ended member for which nothing is queued any more: now, or when its backlog has been written. */
  closeWhenWritten(): void {
    this.#nothingQueued = true;
    this.#closeIfEnded();
  }

  #closeIfEnded(): void {
    if (this.#ending === null || !this.#nothingQueued || this.backlog !== null) return;
    this.close(this.#ending.code, this.#ending.reason);
  }

  // ---- what it is sent

  write(content: Joined<C>): void {
    // A member that is closing or gone gets nothing: its descriptor may be somebody else's already.
    if (!this.isOpen) return;
    const { maxPending } = this.options;
    const room = this.roomFor(content);
    const isReady = this.backlog === null && this.isReady();
    if (isReady && content.length <= Math.min(room, this.mostAtOnce)) {
      this.send(content, false);
      return;
    }
    const backlog = this.backlog ?? new Backlog(this.options.aging);
    this.backlog = backlog;
    for (const frame of content.frames) if (backlog.add(frame)) this.written.slowSuperseded++;
    // More than its keys: the pace does not keep it back.
    if (!isReady && this.isPaced && backlog.bytes > maxPending) this.drain();
    const { pendingBytes } = this;
    if (isReady) {
      // A member that kept up until now may take a moment for more than the usual.
      if (pendingBytes > maxPending) this.#watch();
      this.#pump(backlog);
      return;
    }
    const mayHave = this.isCompressing ? this.#allowed + maxPending : maxPending;
    if (pendingBytes > mayHave) this.#tooSlow();
  }

  /** Looks again later whether the member has taken enough; if it took half of what was left, it is given more time. */
  #watch(left = this.pendingBytes): void {
    if (this.#overdue !== null) return;
    const { maxPending } = this.options;
    const due = performance.now() + graceMs;
    this.#allowed = Math.max(left, maxPending);
    this.#overdue = setTimeout(() => {
      this.#overdue = null;
      this.#allowed = maxPending;
      const { isOpen, pendingBytes } = this;
      if (!isOpen || pendingBytes <= maxPending) return;
      // If the loop was blocked meanwhile, or compression takes that long, it is not the member that is slow.
      if (performance.now() > due + graceMs / 2 || this.isCompressing) this.#watch(left);
      else if (pendingBytes > left / 2) this.#tooSlow();
      else this.#watch();
    }, graceMs).unref();
  }

  /**
   * Writes of a backlog what the kernel takes right now, piece by piece: a copy of all of it could be large. When the last piece has
   * been taken, `drain` goes on.
   */
  #pump(backlog: Backlog<C>): void {
    do {
      const isBehind = this.pendingBytes > this.#allowed;
      const piece = new Joined(backlog.take(Math.min(pieceBytes, this.room || pieceBytes)));
      if (backlog.bytes === 0) this.backlog = null;
      this.send(piece, isBehind);
    } while (backlog.bytes > 0 && this.isOpen && this.takesMore);
  }

  protected readonly drain = (): void => {
    const { backlog } = this;
    if (backlog === null || !this.isOpen || !this.isReady()) return;
    if (backlog.bytes > 0) this.#pump(backlog);
    else this.backlog = null;
    if (this.backlog !== null) return;
    this.#closeIfEnded();
    if (this.isLeaving) this.release();
  };

  /** Drops what may be dropped, least important and oldest first; if that is not enough, the member has to go. */
  #tooSlow(): void {
    const { maxPending, slow, aging } = this.options;
    const backlog = this.backlog ?? new Backlog<C>(aging);
    const { pendingBytes } = this;
    for (const priority of droppable[slow]) {
      let frames = 0;
      while (this.pendingBytes > maxPending && backlog.dropOldest(priority) !== null) frames++;
      this.written.dropped[priority] += frames;
      if (frames > 0) this.#report('dropped', frames, priorities[priority]!, pendingBytes);
    }
    if (this.pendingBytes <= maxPending) return;
    this.backlog = null;
    const frames = backlog.take(Number.POSITIVE_INFINITY);
    for (const frame of frames) this.written.dropped[frame.priority]++;
    this.written.slowClosed++;
    this.cutOff();
    this.#report('closed', frames.length, null, pendingBytes);
  }

  /** Later than the batch that is leaving, so that whatever the listener does, or throws, cannot disturb it. */
  #report(
    action: 'dropped' | 'closed',
    frames: number,
    priority: Priority | null,
    pendingBytes: number,
  ): void {
    const { onSlow } = this.options;
    if (onSlow === undefined) return;
    nextTick(onSlow, { socket: this.connection, action, frames, priority, pendingBytes });
  }
}

// ---- a WebSocket

/** The parts of a ws socket that its type declarations leave out. */
interface Internals {
  readonly _socket: Socket;
  readonly _isServer?: boolean;
  readonly _sender?: Sender;
}

const open = 1;
const tryAgainLater = 1013;
/** Time in ms that a socket may take to read that it is closed for being slow. */
const closingMs = 1000;
/** Time in ms after which to check again whether ws has finished its current frame. No event says so. */
const retryMs = 5;
/** Pings that were sent: each has data of its own, by which its answer is known. */
let pings = 0;

/** A WebSocket: written to past ws, or by ws where only it can encode, and with a pace if it gets messages with keys. */
export class SocketMember extends Member<Frame> implements Receiver<Joined> {
  readonly connection: WebSocket;
  readonly isStream = false;
  readonly #socket: Socket;
  readonly #sender: Sender | undefined;
  readonly #wire: Wire;
  /** True if only ws itself can encode for it: compression keeps a state per socket, and what a client sends is masked. */
  readonly #encodedByWs: boolean;
  /** Pace of its writes since it gets messages with keys; null before. */
  #pace: Pace | null = null;
  /** The data of the last ping. */
  #ping: Buffer | null = null;
  #retry: NodeJS.Timeout | null = null;

  constructor(ws: WebSocket, options: SlowOptions, written: Written) {
    super(options, written);
    this.connection = ws;
    const { _socket, _isServer, _sender } = ws as unknown as Internals;
    this.#socket = _socket;
    this.#sender = _sender;
    this.#wire = Wire.of(_socket);
    this.#encodedByWs = ws.extensions.includes('permessage-deflate') || _isServer === false;
    this.#socket.on('drain', this.drain);
  }

  override release(): void {
    super.release();
    this.#socket.off('drain', this.drain);
    if (this.#pace !== null) this.connection.off('pong', this.#onPong);
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  get isOpen(): boolean {
    return this.connection.readyState === open && this.#socket.writable;
  }

  protected get bufferedBytes(): number {
    return this.connection.bufferedAmount;
  }

  protected close(code: number | undefined, reason: string | undefined): void {
    this.connection.close(code, reason);
  }

  protected cutOff(): void {
    const ws = this.connection;
    ws.close(tryAgainLater, 'too slow: unread messages exceed the limit');
    // The close frame waits behind what the peer does not read: it may never arrive.
    setTimeout(() => ws.terminate(), closingMs).unref();
  }

  /** The descriptor, if it can be sent to past ws and the stream right now; else -1, and `write()` is the way. */
  fdFor(content: Joined): number {
    const ws = this.connection;
    const { maxPending } = this.options;
    if (
      this.backlog !== null ||
      this.#encodedByWs ||
      content.length > maxPending ||
      content.length > maxContent ||
      ws.readyState !== open
    ) {
      return -1;
    }
    if (content.length > this.roomFor(content)) return -1;
    // ws has nothing of its own to send first.
    const isAlone = this.#sender === undefined ? ws.bufferedAmount === 0 : isAtRest(this.#sender);
    return isAlone ? this.#wire.fdFor(null) : -1;
  }

  sent(result: number, content: Joined): void {
    this.#wire.settle(result, content);
    this.#count(content);
  }

  /** ws keeps a message until it is compressed, so it gets no more than one piece. */
  protected override get mostAtOnce(): number {
    return this.#encodedByWs ? pieceBytes : this.options.maxPending;
  }

  protected override get isCompressing(): boolean {
    const { writableLength, writableNeedDrain } = this.#socket;
    if (!this.#encodedByWs || writableNeedDrain) return false;
    return writableLength === 0 || this.connection.bufferedAmount > writableLength;
  }

  protected isReady(): boolean {
    if (this.#socket.writableNeedDrain || !this.#isInPace) return false;
    // What ws keeps back: it is being compressed, or read from a Blob, maybe as a fragment.
    const keptBytes = this.connection.bufferedAmount - this.#socket.writableLength;
    const mayKeepBytes = this.#encodedByWs ? this.#socket.writableHighWaterMark : 0;
    const inFragments = this.#sender?._firstFragment === false;
    if (!inFragments && keptBytes <= mayKeepBytes) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.drain();
    }, retryMs).unref();
    return false;
  }

  protected get takesMore(): boolean {
    return this.connection.bufferedAmount === 0 && this.#isInPace;
  }

  /**
   * `isBehind`: the compressor does not keep up with what is published, so this leaves uncompressed. The callback of the last piece of
   * a backlog goes on: 'drain' does not come for a piece that is smaller than the stream's buffer.
   */
  protected send(content: Joined, isBehind: boolean): void {
    const ws = this.connection;
    const { frames } = content;
    try {
      if (this.#encodedByWs) {
        const last = frames.at(-1);
        for (const frame of frames) {
          const options = { binary: frame.binary, compress: !isBehind };
          if (frame === last) ws.send(frame.payload, options, this.drain);
          else ws.send(frame.payload, options);
        }
        this.written.sends += frames.length;
        this.written.deliveries += frames.length;
        this.#follow(content);
      } else {
        const bytes = content.bytes();
        if (this.backlog === null) this.#socket.write(bytes);
        else this.#socket.write(bytes, this.drain);
        this.#count(content);
      }
    } catch (error) {
      // Nobody knows how much of it left. The socket ends like one that ws finds broken: with 'error' and 'close'.
      ws.terminate();
      nextTick(() => ws.emit('error', error as Error));
    }
  }

  #count(content: Joined): void {
    const { written } = this;
    written.sends++;
    written.bytes += content.length;
    written.deliveries += content.frames.length;
    this.#follow(content);
  }

  // ---- the pace of a socket that gets messages with keys

  protected override get room(): number {
    return this.#pace === null ? Number.POSITIVE_INFINITY : this.#pace.room(performance.now());
  }

  protected override roomFor(content: Joined): number {
    if (this.#pace === null && content.hasKeys) this.#startPace();
    return this.room;
  }

  protected override get isPaced(): boolean {
    return this.#pace !== null;
  }

  #startPace(): void {
    const { maxLag } = this.options;
    if (maxLag === 0) return;
    this.#pace = new Pace(maxLag, performance.now());
    this.connection.on('pong', this.#onPong);
    this.#sendPing();
  }

  /** Reports whether the pace lets anything leave: it keeps back no more than may be pending, and nothing at the end. */
  get #isInPace(): boolean {
    if (this.#pace === null || this.isEnding || this.isLeaving) return true;
    return this.room > 0 || (this.backlog?.bytes ?? 0) > this.options.maxPending;
  }

  #sendPing(): void {
    if (!this.isOpen) return;
    this.#ping = Buffer.from(`millrace ${++pings}`);
    try {
      this.connection.ping(this.#ping);
    } catch {
      // It is closing, and needs no pace any more.
    }
  }

  readonly #onPong = (data: Buffer): void => {
    if (this.#ping === null || !this.#ping.equals(data)) return;
    this.#ping = null;
    if (this.#pace!.answered(performance.now())) this.#sendPing();
    this.drain();
  };

  /** Lets a ping follow what has been written, when it is time for one. */
  #follow(content: Joined): void {
    if (this.#pace?.wrote(content.length, performance.now())) this.#sendPing();
  }
}

// ---- the rooms it is in

/** A time in the room that is over, in arrival numbers: what was published in it is still for its member. */
interface Stay {
  readonly after: number;
  readonly until: number;
}

export class Room {
  readonly name: string;
  /** The room is a type of event in the engine: its queue, its rate, its place in a batch. */
  entry!: TypeEntry;
  /** Members, and the arrival number after which frames are for them. */
  readonly members = new Map<Member, number>();
  /** Members that left while frames of the room were queued. */
  readonly leavers = new Map<Member, Stay[]>();
  /** Frames that were published and have not reached {@link add} yet. */
  queued = 0;
  /** Up to this number frames have been published for somebody who has left. */
  leftAfter = 0;
  /** The room's frames in the batch that is leaving. */
  frames: Frame[] = [];
  /** Lowest number of publication among `frames`, and whether any of them leaves somebody out. */
  firstPublished = 0;
  excepts = false;

  constructor(name: string) {
    this.name = name;
  }

  /** Takes a member out; what is queued up to the arrival number `until` is still for it. */
  remove(member: Member, until: number): void {
    const after = this.members.get(member)!;
    this.members.delete(member);
    if (this.queued === 0 || !member.isOpen) return;
    this.leftAfter = until;
    const stays = this.leavers.get(member);
    if (stays === undefined) this.leavers.set(member, [{ after, until }]);
    else stays.push({ after, until });
  }

  /** Notes a frame of the batch that is leaving. */
  add(frame: Frame): void {
    this.queued--;
    if (this.frames.length === 0) {
      this.firstPublished = frame.published;
      this.excepts = false;
    }
    this.frames.push(frame);
    this.firstPublished = Math.min(this.firstPublished, frame.published);
    this.excepts ||= frame.except !== null;
  }

  /** Reports whether the member gets every frame of the batch that is leaving. */
  getsAll(after: number): boolean {
    return !this.excepts && after < this.firstPublished;
  }

  /** The frames of the batch that is leaving which are for this member. */
  framesFor(member: Member): Frame[] {
    const after = this.members.get(member) ?? Number.POSITIVE_INFINITY;
    const stays = this.leavers.get(member) ?? [];
    return this.frames.filter(
      ({ published, except }) =>
        except !== member &&
        (published > after ||
          stays.some((stay) => published > stay.after && published <= stay.until)),
    );
  }

  /** Reports whether everybody for whom a queued frame is gets the newer one of its key, so that it can be superseded. */
  isSuperseded(older: Frame, newer: Frame): boolean {
    return (
      (newer.except === null || newer.except === older.except) &&
      older.published > this.leftAfter &&
      // A message for other processes is not superseded by one that came from them.
      (older.route === null || newer.route !== null)
    );
  }

  /** The batch has left. */
  sent(): void {
    this.frames = [];
    if (this.queued === 0) this.leavers.clear();
  }
}
