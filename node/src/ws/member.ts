/**
 * One socket: the rooms it is in, and what it has not taken yet. A socket that does not keep up has a backlog of its own,
 * bounded in bytes, so that it costs nobody else anything.
 */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { Backlog } from '../core/egress/backlog.js';
import {
  LOW,
  NORMAL,
  type Priority,
  type PriorityClass,
  priorities,
} from '../core/intake/priority.js';
import { type Frame, join } from './frame.js';
import type { Room } from './room.js';

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
  readonly onSlow: ((info: SlowInfo) => void) | undefined;
}

/** What a socket's writes add up to; shared by all members of one `Rooms`. */
export interface Written {
  sends: number;
  deliveries: number;
  bytes: number;
  dropped: [number, number, number];
  slowClosed: number;
}

/** The parts of a ws socket that its type declarations leave out. */
interface Internals {
  readonly _socket: Socket;
  readonly _isServer?: boolean;
  readonly _sender?: { readonly _firstFragment?: boolean };
}

const open = 1;
const tryAgainLater = 1013;
/** How long a socket that is closed for being slow may take to read the close frame, in ms. */
const graceMs = 1000;
/** How soon to look again whether ws has finished what it is in the middle of, in ms. Nothing tells. */
const retryMs = 5;

export class Member {
  readonly ws: WebSocket;
  readonly rooms = new Set<Room>();
  readonly #socket: Socket;
  /** Only ws itself can encode for it: compression keeps a state per socket, and what a client sends is masked. */
  readonly #encodedByWs: boolean;
  readonly #options: SlowOptions;
  readonly #written: Written;
  #backlog: Backlog<Frame> | null = null;
  #retry: NodeJS.Timeout | null = null;
  /** Set by `releaseWhenDrained`. */
  #leaving = false;
  /** Set by `end`: the close that follows when nothing is queued for the socket any more. */
  #ending: { code: number | undefined; reason: string | undefined } | null = null;

  constructor(ws: WebSocket, options: SlowOptions, written: Written) {
    this.ws = ws;
    const { _socket, _isServer } = ws as unknown as Internals;
    this.#socket = _socket;
    this.#encodedByWs = ws.extensions.includes('permessage-deflate') || _isServer === false;
    this.#options = options;
    this.#written = written;
    this.#socket.on('drain', this.#drain);
  }

  /** Stops listening to the socket. */
  release(): void {
    this.#socket.off('drain', this.#drain);
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#backlog = null;
  }

  /** The same, but what waits is still written first. */
  releaseWhenDrained(): void {
    this.#leaving = true;
    if (this.#backlog === null) this.release();
  }

  /** Not closing, gone, or with its stream ended or destroyed, which ws hears of a little later. */
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
  }

  /** Closes a socket that was ended, unless it has a backlog: then when that has been written. */
  closeIfEnding(): void {
    if (this.#ending === null || this.#backlog !== null) return;
    this.ws.close(this.#ending.code, this.#ending.reason);
  }

  /** Writes frames, of which `bytes` is the concatenation if the caller has it already. */
  write(frames: readonly Frame[], bytes: Buffer | null = null): void {
    // A socket that is closing or gone gets nothing: its descriptor may be somebody else's already.
    if (!this.isOpen) return;
    if (this.#backlog === null && this.#ready()) {
      this.#send(frames, bytes);
      return;
    }
    this.#backlog ??= new Backlog();
    for (const frame of frames) this.#backlog.add(frame);
    if (this.pendingBytes > this.#options.maxPending) this.#tooSlow(this.#backlog);
  }

  /** Whether the stream takes more now, and ws is not in the middle of something that must not be cut in two. */
  #ready(): boolean {
    if (this.#socket.writableNeedDrain) return false;
    const inFragments = (this.ws as unknown as Internals)._sender?._firstFragment === false;
    // What ws keeps to itself: it is being compressed, or read from a Blob, maybe as a fragment.
    const keptBytes = this.ws.bufferedAmount - this.#socket.writableLength;
    const mayKeepBytes = this.#encodedByWs ? this.#socket.writableHighWaterMark : 0;
    if (!inFragments && keptBytes <= mayKeepBytes) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#drain();
    }, retryMs).unref();
    return false;
  }

  /** Never throws: a socket whose write fails harms no other. */
  #send(frames: readonly Frame[], bytes: Buffer | null): void {
    const written = this.#written;
    try {
      if (this.#encodedByWs) {
        for (const frame of frames) this.ws.send(frame.payload, { binary: frame.binary });
        written.sends += frames.length;
      } else {
        const data = bytes ?? join(frames);
        this.#socket.write(data);
        written.sends++;
        written.bytes += data.length;
      }
      written.deliveries += frames.length;
    } catch (error) {
      // Nobody knows how much of it left. The socket ends as one that ws finds broken: with 'error' and 'close'.
      this.ws.terminate();
      process.nextTick(() => this.ws.emit('error', error as Error));
    }
  }

  readonly #drain = (): void => {
    const backlog = this.#backlog;
    if (backlog === null || !this.isOpen || !this.#ready()) return;
    this.#backlog = null;
    const frames = backlog.takeAll();
    if (frames.length > 0) this.#send(frames, null);
    this.closeIfEnding();
    if (this.#leaving) this.release();
  };

  /** Drops what may be dropped, least important and oldest first; if that is not enough, the socket has to go. */
  #tooSlow(backlog: Backlog<Frame>): void {
    const { maxPending, slow } = this.#options;
    const { pendingBytes } = this;
    for (const priority of droppable[slow]) {
      let frames = 0;
      while (this.pendingBytes > maxPending && backlog.dropOldest(priority) !== null) frames++;
      this.#written.dropped[priority] += frames;
      if (frames > 0) this.#report('dropped', frames, priorities[priority]!, pendingBytes);
    }
    if (this.pendingBytes <= maxPending) return;
    this.#backlog = null;
    const frames = backlog.takeAll();
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
    process.nextTick(onSlow, { socket: this.ws, action, frames, priority, pendingBytes });
  }
}
