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
  readonly _sender?: { readonly _firstFragment?: boolean };
}

const open = 1;
const tryAgainLater = 1013;
/** How soon to look again whether a message that the application sends in fragments is complete, in ms. */
const fragmentRetryMs = 5;

export class Member {
  readonly ws: WebSocket;
  readonly rooms = new Set<Room>();
  /** Frames for this socket alone in the batch that is leaving. */
  readonly own: Frame[] = [];
  readonly #socket: Socket;
  readonly #compresses: boolean;
  readonly #options: SlowOptions;
  readonly #written: Written;
  #backlog: Backlog<Frame> | null = null;
  #retry: NodeJS.Timeout | null = null;

  constructor(ws: WebSocket, options: SlowOptions, written: Written) {
    this.ws = ws;
    this.#socket = (ws as unknown as Internals)._socket;
    this.#compresses = ws.extensions.includes('permessage-deflate');
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
    if (this.#backlog === null) this.release();
    else this.ws.once('close', () => this.release());
  }

  get isOpen(): boolean {
    return this.ws.readyState === open;
  }

  /** Bytes that wait here or in the stream for the kernel to take them. */
  get pendingBytes(): number {
    return this.#socket.writableLength + (this.#backlog?.bytes ?? 0);
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

  /** Whether the stream takes more now, and not in the middle of a message that the application sends in fragments. */
  #ready(): boolean {
    if (this.#socket.writableNeedDrain) return false;
    if ((this.ws as unknown as Internals)._sender?._firstFragment !== false) return true;
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#drain();
    }, fragmentRetryMs).unref();
    return false;
  }

  #send(frames: readonly Frame[], bytes: Buffer | null): void {
    const written = this.#written;
    written.deliveries += frames.length;
    if (this.#compresses) {
      // Compression keeps a state per socket: only ws itself can encode for it.
      for (const frame of frames) this.ws.send(frame.payload, { binary: frame.binary });
      written.sends += frames.length;
      return;
    }
    const data = bytes ?? join(frames);
    written.sends++;
    written.bytes += data.length;
    this.#socket.write(data);
  }

  readonly #drain = (): void => {
    const backlog = this.#backlog;
    if (backlog === null || !this.isOpen || !this.#ready()) return;
    this.#backlog = null;
    const frames = backlog.takeAll();
    if (frames.length > 0) this.#send(frames, null);
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
    this.#written.slowClosed++;
    this.ws.close(tryAgainLater, 'too slow: unread messages exceed the limit');
    this.#report('closed', backlog.takeAll().length, null, pendingBytes);
  }

  #report(
    action: 'dropped' | 'closed',
    frames: number,
    priority: Priority | null,
    pendingBytes: number,
  ): void {
    this.#options.onSlow?.({ socket: this.ws, action, frames, priority, pendingBytes });
  }
}
