/** Frames that WebSockets send in one turn, gathered until its end: then they leave, each content once, in one native call. */
import type { Socket } from 'node:net';
import { clearTimeout, nextTick, performance, setTimeout } from '../core/timers.cjs';
import { isExiting, joinTurn, listenForExit, type TurnMember } from '../net/turn.js';
import type { Hold } from './hold.js';
import { callAll, type Outbox } from './outbox.js';
import { nothing, type Sequence, type SharedFrame } from './sequence.js';
import { TurnFrames } from './turn-frames.js';
import { maxContent, Volley } from './volley.js';
import type { Wire, WriteCallback } from './wire.js';

/** What one turn may encode before it has to leave, in bytes. */
const maxTurnBytes = 16 * 1024 * 1024;

export interface GathererCounters {
  /** Frames that were sent. */
  frames: number;
  /** Writes: frames of a socket that left together count as one. */
  writes: number;
  /** Groups of sockets with the same frames that left in native calls. */
  groups: number;
  /** Times that frames were held beyond the end of their turn. */
  holds: number;
}

export class Gatherer implements TurnMember {
  readonly frames = new TurnFrames();
  closed = false;
  readonly counters: GathererCounters = { frames: 0, writes: 0, groups: 0, holds: 0 };
  /** Bytes of one socket that leave at once. */
  readonly #maxPendingBytes: number;
  readonly #hold: Hold | null;
  /** Sockets that have something to send. */
  #listed: Outbox[] = [];
  /** Callbacks of writes that are over. */
  #over: WriteCallback[] = [];
  #joined = false;
  /** When the first frame that waits came, in ms; and the end of its hold. */
  #since = 0;
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
    const now = performance.now();
    if (this.#timer === null) this.#since = now;
    const deadline = this.#since + hold.ask(this.#listed, now);
    if (deadline <= now) return false;
    if (this.#timer === null) this.counters.holds++;
    else clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), Math.max(1, Math.ceil(deadline - now)));
    return true;
  }

  /** Everything that was gathered leaves now. */
  flush(): void {
    const outboxes = this.#listed;
    if (outboxes.length === 0) return;
    this.#listed = [];
    this.frames.clear();
    this.#hold?.ended(outboxes);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const outbox of outboxes) outbox.listed = false;
    const volley = Volley.take<Sequence>();
    // The same bytes go to the streams of those with the same sequence, without their being sought out.
    const rest = volley === null ? outboxes : this.#send(volley, outboxes);
    for (const outbox of rest) outbox.release();
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
