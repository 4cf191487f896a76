/**
 * Frames that WebSockets send in one turn, gathered until its end: then they leave, each content once, in one native call.
 *
 * A socket has an outbox from its first frame on, found by the object that encodes its frames. An outbox holds what the
 * socket has sent in this turn; the gatherer lists those that have something, and decides when they leave: at the end of
 * the turn, earlier when they are full or the socket is used otherwise, later when a hold pays. Only an outbox changes its
 * sequence, and only its gatherer takes it out of the list.
 */
import { Socket } from 'node:net';
import { captureContext, runInContext } from '@millrace/base/context';
import { clearTimeout, nextTick, setTimeout } from '@millrace/base/timers';
import { TurnHost } from '../engine/host.js';
import { complete } from '../engine/options.js';
import { Advisor, type Rate } from '../engine/policy.js';
import { isExiting, joinTurn, listenForExit, type TurnMember } from '../net/turn.js';
import { nothing, type Sequence, type SharedFrame } from './sequence.js';
import { TurnFrames } from './turn-frames.js';
import { maxContent, type Receiver, Volley } from './volley.js';
import { type Holder, Wire, type WriteCallback } from './wire.js';
import type { Sender } from './ws-class.js';

/** Bytes that one turn may encode before they have to leave. */
const maxTurnBytes = 16 * 1024 * 1024;

export interface GathererCounters {
  /** Frames sent. */
  frames: number;
  /** Writes: frames of a socket that left together count as one. */
  writes: number;
  /** Groups of sockets with the same frames that left in native calls. */
  groups: number;
  /** Turns whose frames were held beyond their end. */
  holds: number;
}

export class Gatherer implements TurnMember {
  readonly frames = new TurnFrames();
  closed = false;
  readonly counters: GathererCounters = { frames: 0, writes: 0, groups: 0, holds: 0 };
  /** Frames that were left to ws: each encoded and written by itself. The counters leave them out. */
  passed = 0;
  /** Bytes of one socket that leave at once. */
  readonly #maxPendingBytes: number;
  readonly #hold: Hold | null;
  /** Sockets that have something to send. */
  #listed: Outbox[] = [];
  /** Callbacks of writes that are over. */
  #over: WriteCallback[] = [];
  #joined = false;
  /** End of the hold; null when nothing is held. */
  #timer: NodeJS.Timeout | null = null;

  constructor(maxPendingBytes: number, hold: Hold | null) {
    this.#maxPendingBytes = maxPendingBytes;
    this.#hold = hold;
    listenForExit();
    if (hold !== null) process.on('exit', this.#onExit);
  }

  readonly #onExit = (): void => this.flush();

  /** Sends what was gathered; nothing is gathered any more. */
  close(): void {
    this.closed = true;
    this.flush();
    process.off('exit', this.#onExit);
  }

  /**
   * Sends a frame at the end of the turn. `onWritten` is called once, when the frame has been written. Returns false, and does
   * nothing, when no turn follows or the application has replaced methods of the socket.
   */
  add(outbox: Outbox, frame: SharedFrame, onWritten: WriteCallback | undefined): boolean {
    if (outbox.sequence === nothing && !this.#begin(outbox)) return false;
    const sequence = frame.after(outbox.sequence);
    outbox.sequence = sequence;
    this.counters.frames++;
    if (onWritten !== undefined) outbox.notify(onWritten);
    if (sequence.length >= this.#maxPendingBytes) outbox.release();
    this.limit();
    return true;
  }

  /** Bounds the memory of a turn: the frames that it has encoded leave before its end, and are not kept for more sockets. */
  protected limit(): void {
    if (this.frames.bytes < maxTurnBytes) return;
    this.flush();
    this.frames.clear();
  }

  #begin(outbox: Outbox): boolean {
    if (this.closed || isExiting() || !outbox.wire.guard()) return false;
    outbox.wire.holder = outbox;
    if (outbox.listed) return true;
    outbox.listed = true;
    this.#listed.push(outbox);
    this.join();
    return true;
  }

  /** Sockets that have something to send. */
  protected get waiting(): number {
    return this.#listed.length;
  }

  /** Makes sure that {@link endTurn} is called. */
  protected join(): void {
    if (this.#joined) return;
    this.#joined = true;
    joinTurn(this);
  }

  endTurn(): void {
    this.#joined = false;
    if (this.#hold === null || !this.#isHeld(this.#hold)) this.flush();
  }

  #isHeld(hold: Hold): boolean {
    if (isExiting()) return false;
    if (this.#timer !== null) return true;
    const ms = hold.ask(this.#listed, this.counters.frames);
    if (ms === 0) return false;
    this.counters.holds++;
    this.#timer = setTimeout(() => this.flush(), Math.max(1, Math.ceil(ms)));
    return true;
  }

  /** Sends everything that was gathered. */
  flush(): void {
    const outboxes = this.#listed;
    if (outboxes.length === 0) return;
    this.#listed = [];
    this.frames.clear();
    const start = this.#hold?.leaving(outboxes) ?? 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const outbox of outboxes) outbox.listed = false;
    const volley = Volley.take<Sequence>();
    // The same bytes go to the streams of those with the same sequence, without their being sought out.
    const rest = volley === null ? outboxes : this.#send(volley, outboxes);
    for (const outbox of rest) outbox.release();
    this.#hold?.left(start);
  }

  /** Sends natively; returns those that must be written to through their streams. */
  #send(volley: Volley<Sequence>, outboxes: readonly Outbox[]): Outbox[] {
    const groups: Outbox[][] = [];
    const rest: Outbox[] = [];
    for (const outbox of outboxes) {
      const { sequence } = outbox;
      if (sequence === nothing) continue;
      if (sequence.group === -1) sequence.group = groups.push([outbox]) - 1;
      else groups[sequence.group]!.push(outbox);
    }
    for (const group of groups) {
      const sequence: Sequence = group[0]!.sequence;
      // Sequences may grow: another socket may add to one while this one is written to.
      sequence.group = -1;
      const fits = sequence.length <= maxContent;
      const before = rest.length;
      for (const outbox of group) {
        const fd = fits ? outbox.wire.fdFor(outbox) : -1;
        if (fd < 0) rest.push(outbox);
        else volley.add(outbox, fd, sequence);
      }
      if (rest.length - before < group.length) this.counters.groups++;
    }
    volley.send();
    if (this.#over.length > 0) {
      nextTick(callAll, this.#over, null);
      this.#over = [];
    }
    return rest;
  }

  /** Calls back when the calls that are running have ended, as streams do. */
  over(callbacks: readonly WriteCallback[]): void {
    for (const callback of callbacks) this.#over.push(callback);
  }

  /** Gives frames to the socket's stream. */
  write(wire: Wire, bytes: Buffer, callback: WriteCallback | undefined): void {
    wire.socket.write(bytes, callback);
  }

  /** Called after frames were given to the socket's stream, which calls back. */
  wrote(_socket: Socket, _callbacks: readonly WriteCallback[]): void {}

  /** Called before the application reads how much the socket has written or still keeps. */
  observed(_outbox: Outbox): void {}
}

/** The frames that one WebSocket has sent in this turn, until they leave at its end. */
export class Outbox implements Holder, Receiver<Sequence> {
  readonly gatherer: Gatherer;
  readonly wire: Wire;
  /** The frames so far. */
  sequence: Sequence = nothing;
  /** True while it is in the list of sockets that have something to send. */
  listed = false;
  /** Frames per ms, the frames of `sequence` that it knows of, those that it does not, and the last sample; only where frames may be held. */
  readonly rate: Rate = { value: 0, at: 0 };
  counted = 0;
  fresh = 0;
  sample = 0;
  /** The last turn in which the socket sent, and its frames in it. Kept, like `gathers`, by the transparent gatherer only. */
  turn = 0;
  turnFrames = 0;
  /** True if further frames of this turn wait for its end. */
  gathers = false;
  #callbacks: WriteCallback[] | null = null;

  constructor(gatherer: Gatherer, wire: Wire) {
    this.gatherer = gatherer;
    this.wire = wire;
  }

  /** `callback` will be called when what has been added until now is written. */
  notify(callback: WriteCallback): void {
    if (this.#callbacks === null) this.#callbacks = [callback];
    else this.#callbacks.push(callback);
  }

  observed(): void {
    this.gatherer.observed(this);
  }

  /** Writes what is kept back to the stream. Never throws: a socket whose write fails harms no other. */
  release(): void {
    const { sequence } = this;
    if (sequence === nothing) return;
    const { socket } = this.wire;
    const callbacks = this.#taken();
    const callback = once(asOne(callbacks));
    this.gatherer.counters.writes++;
    try {
      this.gatherer.write(this.wire, sequence.bytes(), callback);
      if (callbacks !== null) this.gatherer.wrote(socket, callbacks);
    } catch (error) {
      // Somebody has replaced `write`. Nobody knows how much of the data left.
      socket.destroy(error as Error);
      if (callback !== undefined) nextTick(callback, error as Error);
    }
  }

  sent(result: number, content: Sequence): void {
    const callbacks = this.#taken();
    this.gatherer.counters.writes++;
    if (callbacks === null) this.wire.settle(result, content);
    else if (this.wire.settle(result, content, asOne(callbacks))) this.gatherer.over(callbacks);
    else this.gatherer.wrote(this.wire.socket, callbacks);
  }

  /** Releases everything kept back. */
  #taken(): WriteCallback[] | null {
    const callbacks = this.#callbacks;
    this.#callbacks = null;
    this.sequence = nothing;
    this.counted = 0;
    this.wire.holder = null;
    return callbacks;
  }
}

/** The callback, to be called in the async context of this call. */
export function inContext(callback: WriteCallback): WriteCallback {
  const context = captureContext('auto');
  return context === null ? callback : (error) => runInContext(context, callback, error);
}

/** The replacement of `write` may have called back before it threw. */
function once(callback: WriteCallback | undefined): WriteCallback | undefined {
  if (callback === undefined) return undefined;
  let isDue = true;
  return (error) => {
    if (!isDue) return;
    isDue = false;
    callback(error);
  };
}

/** Several callbacks as that of one write. */
function asOne(callbacks: WriteCallback[] | null): WriteCallback | undefined {
  if (callbacks === null) return undefined;
  if (callbacks.length === 1) return callbacks[0];
  return (error) => callAll(callbacks, error);
}

/** Calls all of them, each as from a tick of its own: one that throws does not keep the others from being called. */
function callAll(callbacks: readonly WriteCallback[], error?: Error | null): void {
  let next = 0;
  try {
    while (next < callbacks.length) callbacks[next++]!(error);
  } finally {
    if (next < callbacks.length) nextTick(callAll, callbacks.slice(next), error);
  }
}

/** Bytes of one socket that leave before the end of the turn. As much as a stream buffers, and much less than a kernel does. */
export const defaultMaxPendingBytes = 64 * 1024;

const key = Symbol('millrace.outbox');

interface Adopted extends Sender {
  [key]?: Outbox | null;
}

/** The sender's outbox, which is made when there is none; null for one without a socket of Node.js. */
export function outboxOf(sender: Sender, gatherer: Gatherer): Outbox | null {
  const outbox = (sender as Adopted)[key];
  if (outbox === null || outbox?.gatherer === gatherer) return outbox;
  return adopt(sender, gatherer);
}

/** The sender's outbox if it has one. */
export function knownOutbox(sender: Sender): Outbox | null {
  return (sender as Adopted)[key] ?? null;
}

function adopt(sender: Sender, gatherer: Gatherer): Outbox | null {
  const socket = sender._socket;
  const outbox = socket instanceof Socket ? new Outbox(gatherer, Wire.of(socket)) : null;
  Object.defineProperty(sender, key, { value: outbox, writable: true });
  return outbox;
}

/**
 * Decides whether the frames of a turn are held for the next ones: the rule of all queues, with a socket as the destination.
 * Frames that are not held leave whole at the end of their turn, whatever that takes: nothing is there to judge the rest
 * again.
 */
export class Hold {
  readonly #host = new TurnHost();
  readonly #advisor = new Advisor(this.#host);
  /** Frames that are leaving. */
  #leaving = 0;

  /** `maxDelay` in ms. */
  constructor(maxDelay: number) {
    this.#advisor.configure(complete({ maxDelay, maxBatchTime: 0 }));
  }

  /** Hold of the frames that wait, in ms. `sent`: frames that were sent so far, the waiting ones included. */
  ask(outboxes: readonly Outbox[], sent: number): number {
    const now = this.#host.clock();
    const waiting = this.#count(outboxes, now);
    return this.#advisor.hold(now, sent - waiting, sent);
  }

  /** The frames are about to leave; returns the time, for {@link left}. */
  leaving(outboxes: readonly Outbox[]): number {
    const now = this.#host.clock();
    this.#leaving = this.#count(outboxes, now);
    return now;
  }

  /** The frames have left: how long that took is what a batch of them costs. */
  left(start: number): void {
    const now = this.#host.clock();
    if (this.#leaving > 0) this.#advisor.handed(this.#leaving, now - start, now, true);
    this.#leaving = 0;
  }

  /** Brings the rates up to date; returns the frames that wait. */
  #count(outboxes: readonly Outbox[], now: number): number {
    const { touched } = this.#advisor;
    let all = 0;
    for (const outbox of outboxes) {
      const { frames } = outbox.sequence;
      all += frames;
      if (frames === outbox.counted) continue;
      outbox.fresh = frames - outbox.counted;
      outbox.counted = frames;
      touched.push(outbox);
    }
    if (touched.length > 0) this.#advisor.fold(now);
    return all;
  }
}
