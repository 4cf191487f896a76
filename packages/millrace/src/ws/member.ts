/**
 * One socket: the rooms it is in, and what it has not taken yet. A socket that does not keep up has a backlog of its own,
 * bounded in bytes, so that it costs nobody else anything.
 */
import type { Socket } from 'node:net';
import {
  LOW,
  NORMAL,
  type Priority,
  type PriorityClass,
  priorities,
} from '@millrace/base/priority';
import { clearTimeout, nextTick, performance, setTimeout } from '@millrace/base/timers';
import type { TypeEntry } from '../engine/queue.js';
import { type Aging, Backlog } from './backlog.js';
import { type Frame, Joined } from './frame.js';
import { Pace } from './pace.js';
import { maxContent, type Receiver } from './volley.js';
import { Wire } from './wire.js';
import type { WebSocket } from './ws-class.js';
import { isAtRest, type Sender } from './ws-class.js';

/** What happens to a socket whose backlog passes `maxPending`. */
export type SlowPolicy = 'close' | 'drop-low' | 'drop-normal';

/** Classes that a policy may drop, in this order, before it closes the socket. */
const droppable: Readonly<Record<SlowPolicy, readonly PriorityClass[]>> = {
  close: [],
  'drop-low': [LOW],
  'drop-normal': [LOW, NORMAL],
};

/** Told when a slow socket loses frames or is closed. */
export interface SlowInfo {
  readonly socket: WebSocket;
  /** `dropped`: frames were left out; `closed`: the socket was closed with 1013. */
  readonly action: 'dropped' | 'closed';
  /** Frames that were left out, and their class (`closed`: of all classes). */
  readonly frames: number;
  readonly priority: Priority | null;
  /** Bytes that the socket had not taken when it happened. */
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

/** What a socket's writes add up to; shared by all members of one `Rooms`. */
export interface Written {
  sends: number;
  deliveries: number;
  bytes: number;
  dropped: [number, number, number];
  slowSuperseded: number;
  slowClosed: number;
}

/** The parts of a ws socket that its type declarations leave out. */
interface Internals {
  readonly _socket: Socket;
  readonly _isServer?: boolean;
  readonly _sender?: Sender;
}

const open = 1;
const tryAgainLater = 1013;
/** How long a socket may take for half of what is more than `maxPending` of one turn, and to read that it is closed for being slow, in ms. */
const graceMs = 1000;
/** How soon to look again whether ws has finished what it is in the middle of, in ms. No event says so. */
const retryMs = 5;
/** Size of the pieces in which a backlog is written, in bytes. */
const pieceBytes = 64 * 1024;
/** Pings that were sent: each has data of its own, by which its answer is known. */
let pings = 0;

export class Member implements Receiver<Joined> {
  readonly ws: WebSocket;
  readonly rooms = new Set<Room>();
  readonly #socket: Socket;
  readonly #sender: Sender | undefined;
  readonly #wire: Wire;
  /** Only ws itself can encode for it: compression keeps a state per socket, and what a client sends is masked. */
  readonly #encodedByWs: boolean;
  readonly #options: SlowOptions;
  readonly #written: Written;
  #backlog: Backlog<Frame> | null = null;
  /** Since it gets messages with keys; null before. */
  #pace: Pace | null = null;
  /** The data of the last ping. */
  #ping: Buffer | null = null;
  #retry: NodeJS.Timeout | null = null;
  #overdue: NodeJS.Timeout | null = null;
  /** Bytes that were pending when `#overdue` was set; `maxPending` while it is not. */
  #allowed: number;
  /** Set by `releaseWhenDrained`. */
  #leaving = false;
  /** Set by `end`: the close that follows when nothing is queued for the socket any more. */
  #ending: { code: number | undefined; reason: string | undefined } | null = null;
  #nothingQueued = false;

  constructor(ws: WebSocket, options: SlowOptions, written: Written) {
    this.ws = ws;
    const { _socket, _isServer, _sender } = ws as unknown as Internals;
    this.#socket = _socket;
    this.#sender = _sender;
    this.#wire = Wire.of(_socket);
    this.#encodedByWs = ws.extensions.includes('permessage-deflate') || _isServer === false;
    this.#options = options;
    this.#allowed = options.maxPending;
    this.#written = written;
    this.#socket.on('drain', this.#drain);
  }

  /** Stops listening to the socket. */
  release(): void {
    this.#socket.off('drain', this.#drain);
    if (this.#pace !== null) this.ws.off('pong', this.#onPong);
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#overdue !== null) clearTimeout(this.#overdue);
    this.#backlog = null;
  }

  /** The same, but what waits is still written first. */
  releaseWhenDrained(): void {
    this.#leaving = true;
    if (this.#backlog === null) this.release();
    else this.#drain();
  }

  /** Not closing or gone, nor with its stream ended or destroyed, which ws notices a little later. */
  get isOpen(): boolean {
    return this.ws.readyState === open && this.#socket.writable;
  }

  /** Bytes that wait here, in ws or in the stream for the kernel to take them. */
  get pendingBytes(): number {
    return this.ws.bufferedAmount + (this.#backlog?.bytes ?? 0);
  }

  /** Notes that the socket is to be closed when what is queued has been written. */
  end(code: number | undefined, reason: string | undefined): void {
    this.#ending ??= { code, reason };
    this.#drain();
  }

  get isEnding(): boolean {
    return this.#ending !== null;
  }

  /** Nothing is queued for the ended socket any more: closes it now, or when its backlog has been written. */
  closeWhenWritten(): void {
    this.#nothingQueued = true;
    this.#closeIfEnded();
  }

  #closeIfEnded(): void {
    if (this.#ending === null || !this.#nothingQueued || this.#backlog !== null) return;
    this.ws.close(this.#ending.code, this.#ending.reason);
  }

  /** The descriptor, if it can be sent to past ws and the stream right now; else -1, and `write()` is the way. */
  fdFor(content: Joined): number {
    const { ws } = this;
    const { maxPending } = this.#options;
    if (
      this.#backlog !== null ||
      this.#encodedByWs ||
      content.length > maxPending ||
      content.length > maxContent ||
      ws.readyState !== open
    ) {
      return -1;
    }
    if (content.length > this.#roomFor(content)) return -1;
    // ws has nothing of its own to send first.
    const isAlone = this.#sender === undefined ? ws.bufferedAmount === 0 : isAtRest(this.#sender);
    return isAlone ? this.#wire.fdFor(null) : -1;
  }

  sent(result: number, content: Joined): void {
    this.#wire.settle(result, content);
    this.#count(content);
  }

  write(content: Joined): void {
    // A socket that is closing or gone gets nothing: its descriptor may be somebody else's already.
    if (!this.isOpen) return;
    const { maxPending } = this.#options;
    const room = this.#roomFor(content);
    const isReady = this.#backlog === null && this.#ready();
    // ws keeps a message until it is compressed, so it gets no more than one piece.
    const most = Math.min(room, this.#encodedByWs ? pieceBytes : maxPending);
    if (isReady && content.length <= most) {
      this.#send(content);
      return;
    }
    const backlog = this.#backlog ?? new Backlog(this.#options.aging);
    this.#backlog = backlog;
    for (const frame of content.frames) if (backlog.add(frame)) this.#written.slowSuperseded++;
    // More than its keys: the pace does not keep it back.
    if (!isReady && this.#pace !== null && backlog.bytes > maxPending) this.#drain();
    const { pendingBytes } = this;
    if (isReady) {
      // A socket that kept up until now may take a moment for more than the usual.
      if (pendingBytes > maxPending) this.#watch();
      this.#pump(backlog);
      return;
    }
    const mayHave = this.#isCompressing ? this.#allowed + maxPending : maxPending;
    if (pendingBytes > mayHave) this.#tooSlow();
  }

  /** The client has taken what was compressed for it; what is pending waits for the compressor. */
  get #isCompressing(): boolean {
    const { writableLength, writableNeedDrain } = this.#socket;
    if (!this.#encodedByWs || writableNeedDrain) return false;
    return writableLength === 0 || this.ws.bufferedAmount > writableLength;
  }

  /** Looks again later whether the socket has taken enough; if it took half of what was left, it is given more time. */
  #watch(left = this.pendingBytes): void {
    if (this.#overdue !== null) return;
    const { maxPending } = this.#options;
    const due = performance.now() + graceMs;
    this.#allowed = Math.max(left, maxPending);
    this.#overdue = setTimeout(() => {
      this.#overdue = null;
      this.#allowed = maxPending;
      const { isOpen, pendingBytes } = this;
      if (!isOpen || pendingBytes <= maxPending) return;
      // If the loop was blocked meanwhile, or compression takes that long, it is not the socket that is slow.
      if (performance.now() > due + graceMs / 2 || this.#isCompressing) this.#watch(left);
      else if (pendingBytes > left / 2) this.#tooSlow();
      else this.#watch();
    }, graceMs).unref();
  }

  /** Whether the stream takes more now, and ws is not in the middle of something that must not be cut in two. */
  #ready(): boolean {
    if (this.#socket.writableNeedDrain || !this.#isInPace) return false;
    // What ws keeps back: it is being compressed, or read from a Blob, maybe as a fragment.
    const keptBytes = this.ws.bufferedAmount - this.#socket.writableLength;
    const mayKeepBytes = this.#encodedByWs ? this.#socket.writableHighWaterMark : 0;
    const inFragments = this.#sender?._firstFragment === false;
    if (!inFragments && keptBytes <= mayKeepBytes) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#drain();
    }, retryMs).unref();
    return false;
  }

  /**
   * Writes of a backlog what the kernel takes right now, piece by piece: a copy of all of it could be large. The callback of
   * the last piece goes on; 'drain' does not come for a piece that is smaller than the stream's buffer.
   */
  #pump(backlog: Backlog<Frame>): void {
    do {
      const isBehind = this.pendingBytes > this.#allowed;
      const piece = new Joined(backlog.take(Math.min(pieceBytes, this.#room || pieceBytes)));
      if (backlog.bytes === 0) this.#backlog = null;
      this.#send(piece, isBehind);
    } while (backlog.bytes > 0 && this.isOpen && this.ws.bufferedAmount === 0 && this.#isInPace);
  }

  // ---- the pace of a socket that gets messages with keys

  /** Bytes that may be on their way beside those that are. */
  get #room(): number {
    return this.#pace === null ? Number.POSITIVE_INFINITY : this.#pace.room(performance.now());
  }

  /** The same, for messages the first of which may have a key. */
  #roomFor(content: Joined): number {
    if (this.#pace === null && content.hasKeys) this.#startPace();
    return this.#room;
  }

  #startPace(): void {
    const { maxLag } = this.#options;
    if (maxLag === 0) return;
    this.#pace = new Pace(maxLag, performance.now());
    this.ws.on('pong', this.#onPong);
    this.#sendPing();
  }

  /** Whether the pace lets anything leave: it keeps back no more than may be pending, and nothing at the end. */
  get #isInPace(): boolean {
    if (this.#pace === null || this.#ending !== null || this.#leaving) return true;
    return this.#room > 0 || (this.#backlog?.bytes ?? 0) > this.#options.maxPending;
  }

  #sendPing(): void {
    if (!this.isOpen) return;
    this.#ping = Buffer.from(`millrace ${++pings}`);
    try {
      this.ws.ping(this.#ping);
    } catch {
      // It is closing, and needs no pace any more.
    }
  }

  readonly #onPong = (data: Buffer): void => {
    if (this.#ping === null || !this.#ping.equals(data)) return;
    this.#ping = null;
    if (this.#pace!.answered(performance.now())) this.#sendPing();
    this.#drain();
  };

  /**
   * Calls `#drain` when a backlog may go on. Never throws: a socket whose write fails harms no other. `isBehind`: the
   * compressor does not keep up with what is published, so this leaves uncompressed.
   */
  #send(content: Joined, isBehind = false): void {
    const { frames } = content;
    try {
      if (this.#encodedByWs) {
        const last = frames.at(-1);
        for (const frame of frames) {
          const options = { binary: frame.binary, compress: !isBehind };
          if (frame === last) this.ws.send(frame.payload, options, this.#drain);
          else this.ws.send(frame.payload, options);
        }
        this.#written.sends += frames.length;
        this.#written.deliveries += frames.length;
        this.#follow(content);
      } else {
        const bytes = content.bytes();
        if (this.#backlog === null) this.#socket.write(bytes);
        else this.#socket.write(bytes, this.#drain);
        this.#count(content);
      }
    } catch (error) {
      // Nobody knows how much of it left. The socket ends like one that ws finds broken: with 'error' and 'close'.
      this.ws.terminate();
      nextTick(() => this.ws.emit('error', error as Error));
    }
  }

  #count(content: Joined): void {
    const written = this.#written;
    written.sends++;
    written.bytes += content.length;
    written.deliveries += content.frames.length;
    this.#follow(content);
  }

  /** Lets a ping follow what has been written, when it is time for one. */
  #follow(content: Joined): void {
    if (this.#pace?.wrote(content.length, performance.now())) this.#sendPing();
  }

  readonly #drain = (): void => {
    const backlog = this.#backlog;
    if (backlog === null || !this.isOpen || !this.#ready()) return;
    if (backlog.bytes > 0) this.#pump(backlog);
    else this.#backlog = null;
    if (this.#backlog !== null) return;
    this.#closeIfEnded();
    if (this.#leaving) this.release();
  };

  /** Drops what may be dropped, least important and oldest first; if that is not enough, the socket has to go. */
  #tooSlow(): void {
    const { maxPending, slow, aging } = this.#options;
    const backlog = this.#backlog ?? new Backlog(aging);
    const { pendingBytes } = this;
    for (const priority of droppable[slow]) {
      let frames = 0;
      while (this.pendingBytes > maxPending && backlog.dropOldest(priority) !== null) frames++;
      this.#written.dropped[priority] += frames;
      if (frames > 0) this.#report('dropped', frames, priorities[priority]!, pendingBytes);
    }
    if (this.pendingBytes <= maxPending) return;
    this.#backlog = null;
    const frames = backlog.take(Number.POSITIVE_INFINITY);
    for (const frame of frames) this.#written.dropped[frame.priority]++;
    this.#written.slowClosed++;
    this.ws.close(tryAgainLater, 'too slow: unread messages exceed the limit');
    // The close frame waits behind what the peer does not read: it may never arrive.
    setTimeout(() => this.ws.terminate(), graceMs).unref();
    this.#report('closed', frames.length, null, pendingBytes);
  }

  /** Later than the batch that is leaving, so that whatever the listener does, or throws, cannot disturb it. */
  #report(
    action: 'dropped' | 'closed',
    frames: number,
    priority: Priority | null,
    pendingBytes: number,
  ): void {
    const { onSlow } = this.#options;
    if (onSlow === undefined) return;
    nextTick(onSlow, { socket: this.ws, action, frames, priority, pendingBytes });
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
  /** Who left while frames of the room were queued. */
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

  /** Whether the member gets every frame of the batch that is leaving. */
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

  /** Whether everybody for whom a queued frame is gets the newer one of its key, so that it can be superseded. */
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
