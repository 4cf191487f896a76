/**
 * Keeps events that found no handler, in order, for one that registers later. Bounded in events, bytes and age for each type. What is
 * retained has left the queue and has its own bound; the timer for its age keeps nothing alive.
 *
 * A handler that registers while its type keeps something makes the type due. What is due is replayed at the start of the next dispatch
 * point, or before the next event of the type if that comes first, so that a late handler gets the older events first. Numbers order
 * what is retained and registered: a handler gets what has a lower number than its own. A type has one age for all its events, so its
 * first one expires first, and one deadline, that of the earliest type, is asked for.
 */

import type { RetainOptions } from './options.js';
import type { BatchEvent } from './queue.js';

/** A handler as the retention sees it: something that can get an event. */
export type Receiver = unknown;

interface Kept {
  readonly event: BatchEvent;
  /** Time from which it is kept, in ms, and its place among everything that happened here. */
  readonly since: number;
  readonly number: number;
  /** Handlers that have received it (`replay: 'each'`). */
  received: Set<Receiver> | null;
}

interface TypeRetention {
  /** null: this type does not retain, whatever the others do. */
  options: RetainOptions | null;
  /** Insertion order is the order in which they left; a Set so that one can be taken out in O(1). */
  readonly kept: Set<Kept>;
  bytes: number;
  /** Handlers that registered while something was kept and have not been given it yet, in order. */
  due: { receiver: Receiver; number: number }[];
}

interface RetentionCounters {
  held: number;
  replayed: number;
  expired: number;
  refused: number;
}

/** Reason why a retained event ended without a handler: its age, the queue's close, or retention was turned off. */
type Expiry = 'age' | 'close' | 'off';

export class Retention {
  readonly #types = new Map<unknown, TypeRetention>();
  readonly #where = new Map<BatchEvent, Kept>();
  /** Types with something due, in the order in which their handlers registered. */
  readonly #dueTypes = new Set<unknown>();
  /** True if anything is due. A field of its own: it is looked at for every event. */
  anyDue = false;
  readonly counters: RetentionCounters = { held: 0, replayed: 0, expired: 0, refused: 0 };
  #bytes = 0;
  #number = 0;
  #deadline: number | null = null;
  readonly #onExpire: (event: BatchEvent, reason: Expiry) => void;
  readonly #onDeadline: (deadlineMs: number | null) => void;
  /** Options for types that have none of their own; null: those do not retain. */
  readonly #fallback: RetainOptions | null;

  /** `onExpire` reports an event that no handler got; `onDeadline` asks for a call of `expire` at a time. */
  constructor(
    onExpire: (event: BatchEvent, reason: Expiry) => void,
    onDeadline: (deadlineMs: number | null) => void,
    fallback: RetainOptions | null = null,
  ) {
    this.#onExpire = onExpire;
    this.#onDeadline = onDeadline;
    this.#fallback = fallback;
  }

  /** Turns retention of a type on with these options, or off. */
  configure(type: unknown, options: RetainOptions | null): void {
    const known = this.#types.get(type);
    if (known !== undefined) known.options = options;
    else this.#types.set(type, { options, kept: new Set(), bytes: 0, due: [] });
    if (options === null && known !== undefined) {
      for (const kept of known.kept) this.#end(kept, 'off');
      this.#forgetDue(type);
    }
    this.#schedule();
  }

  /** Returns the retention of a type, or null. */
  options(type: unknown): RetainOptions | null {
    const known = this.#types.get(type);
    return known === undefined ? this.#fallback : known.options;
  }

  /** Reports whether any type may retain. */
  get used(): boolean {
    return this.#fallback !== null || this.#types.size > 0;
  }

  /** Events kept now, and their bytes. */
  get count(): number {
    return this.#where.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Share of its bound in events or bytes that the fullest type has in use, 0 to 1. A walk over the types. */
  get fill(): number {
    let fill = 0;
    for (const { options, kept, bytes } of this.#types.values()) {
      if (options !== null && kept.size > 0) {
        fill = Math.max(fill, kept.size / options.max, bytes / options.maxBytes);
      }
    }
    return Math.min(1, fill);
  }

  // ---- what a type keeps, in the order in which the events left

  /** Keeps an event of a type that retains; false when it would exceed a bound. */
  keep(event: BatchEvent, now: number): boolean {
    const { max, maxBytes, maxAge } = this.options(event.type)!;
    let type = this.#types.get(event.type);
    if ((type?.kept.size ?? 0) + 1 > max || (type?.bytes ?? 0) + event.bytes > maxBytes) {
      this.counters.refused++;
      return false;
    }
    if (type === undefined) {
      type = { options: this.#fallback, kept: new Set(), bytes: 0, due: [] };
      this.#types.set(event.type, type);
    }
    const kept: Kept = { event, since: now, number: ++this.#number, received: null };
    type.kept.add(kept);
    type.bytes += event.bytes;
    this.#bytes += event.bytes;
    this.#where.set(event, kept);
    this.counters.held++;
    if (this.#deadline === null || now + maxAge < this.#deadline) this.#ask(now + maxAge);
    return true;
  }

  /** Takes out one event, so that nobody gets it. */
  cancel(event: BatchEvent): boolean {
    const kept = this.#where.get(event);
    if (kept === undefined) return false;
    this.#remove(kept);
    this.#schedule();
    return true;
  }

  #remove(kept: Kept): void {
    const { event } = kept;
    const type = this.#types.get(event.type);
    if (type?.kept.delete(kept)) {
      type.bytes -= event.bytes;
      this.#bytes -= event.bytes;
      // A type without settings of its own is not remembered for longer than it has events.
      if (type.kept.size === 0 && type.options === this.#fallback) {
        this.#types.delete(event.type);
        this.#notDue(event.type);
      }
    }
    this.#where.delete(event);
  }

  #end(kept: Kept, reason: Expiry): void {
    // Whoever was told of an event before this one may have cancelled it.
    if (!this.#where.has(kept.event)) return;
    this.#remove(kept);
    if (kept.received !== null) return;
    this.counters.expired++;
    this.#onExpire(kept.event, reason);
  }

  // ---- replays

  /** A handler has registered, one of the type's `receivers` now: what is kept is due to it. True if that is something. */
  register(type: unknown, receiver: Receiver, receivers: () => readonly Receiver[]): boolean {
    const known = this.#types.get(type);
    if (known === undefined || known.kept.size === 0) return false;
    // A type does not keep its place for handlers that are gone, nor for this one if it was there before.
    const others = [...receivers()];
    others.splice(others.lastIndexOf(receiver), 1);
    known.due = known.due.filter((due) => others.includes(due.receiver));
    if (known.due.length === 0) this.#dueTypes.delete(type);
    known.due.push({ receiver, number: ++this.#number });
    this.#dueTypes.add(type);
    this.anyDue = true;
    return true;
  }

  isDue(type: unknown): boolean {
    return this.#dueTypes.has(type);
  }

  #forgetDue(type: unknown): void {
    const known = this.#types.get(type);
    if (known !== undefined) known.due = [];
    this.#notDue(type);
  }

  #notDue(type: unknown): void {
    this.#dueTypes.delete(type);
    this.anyDue = this.#dueTypes.size > 0;
  }

  /** Types of which something is due to a handler that is there; one that registers later has to wait for the next time. */
  dueTypes(receivers: (type: unknown) => readonly Receiver[]): unknown[] {
    for (const type of this.#dueTypes) {
      if (!this.#hasLate(type, receivers(type))) this.#forgetDue(type);
    }
    return [...this.#dueTypes];
  }

  #hasLate(type: unknown, present: readonly Receiver[]): boolean {
    const known = this.#types.get(type);
    if (known === undefined) return false;
    const due = known.due.filter(({ receiver }) => present.includes(receiver));
    if (due.length === 0) return false;
    for (const { number: keptAt, received } of known.kept) {
      if (due.some(({ receiver, number }) => number > keptAt && !received?.has(receiver)))
        return true;
    }
    return false;
  }

  /**
   * Gives a type's due events to `give`, oldest first; `give` says whether the handler succeeded, for a failure keeps
   * the event from the handlers after it. `receivers` lists the type's handlers. What happens in `give` may change
   * everything here, so each step looks again.
   */
  replay(
    type: unknown,
    receivers: () => readonly Receiver[],
    give: (event: BatchEvent, receiver: Receiver) => boolean,
  ): void {
    const known = this.#types.get(type);
    if (known === undefined) {
      this.#notDue(type);
      return;
    }
    // Handlers that register from here on have to wait for the next replay.
    const last = this.#number;
    const due = known.due.filter(({ number }) => number <= last);
    for (const kept of known.kept) {
      const present = receivers();
      if (present.length === 0) break;
      // Looked at anew: a replay inside this one may have registered more.
      const later = known.due.filter(({ number }) => number > last).map(({ receiver }) => receiver);
      const targets = this.#targets(
        known,
        kept,
        due,
        later.length === 0 ? present : present.filter((one) => !later.includes(one)),
      );
      for (const receiver of targets) {
        this.counters.replayed++;
        if (!give(kept.event, receiver)) break;
      }
    }
    known.due = known.due.filter(({ number }) => number > last);
    // The type may have been forgotten meanwhile, and be known again with something else that is due.
    if ((this.#types.get(type)?.due.length ?? 0) === 0) this.#notDue(type);
    this.#schedule();
  }

  /** The handlers that get the event now; from here on it has been received. */
  #targets(
    type: TypeRetention,
    kept: Kept,
    due: readonly { receiver: Receiver; number: number }[],
    present: readonly Receiver[],
  ): readonly Receiver[] {
    const late = due.filter(
      ({ receiver, number }) => number > kept.number && present.includes(receiver),
    );
    if (late.length === 0) return [];
    if (type.options?.replay !== 'each') {
      this.#remove(kept);
      return present;
    }
    const received = kept.received ?? new Set();
    const targets = late.map(({ receiver }) => receiver).filter((one) => !received.has(one));
    for (const receiver of targets) received.add(receiver);
    if (targets.length > 0) kept.received = received;
    return targets;
  }

  // ---- age

  #deadlineOf(kept: Kept): number {
    return kept.since + (this.options(kept.event.type)?.maxAge ?? 0);
  }

  /** The event that expires next: of each type the oldest, since a type has one age for all. */
  #next(): Kept | null {
    let next: Kept | null = null;
    for (const type of this.#types.values()) {
      const [first] = type.kept;
      if (first === undefined) continue;
      const earlier = next === null ? -1 : this.#deadlineOf(first) - this.#deadlineOf(next);
      if (earlier < 0 || (earlier === 0 && first.number < next!.number)) next = first;
    }
    return next;
  }

  /** Ends the events whose age is reached, oldest deadline first. */
  expire(now: number): void {
    if (this.#deadline === null || now < this.#deadline) return;
    const due: Kept[] = [];
    for (const type of this.#types.values()) {
      for (const kept of type.kept) {
        // A type has one age for all: those behind it expire later.
        if (this.#deadlineOf(kept) > now) break;
        due.push(kept);
      }
    }
    due.sort((a, b) => this.#deadlineOf(a) - this.#deadlineOf(b) || a.number - b.number);
    for (const kept of due) this.#end(kept, 'age');
    this.#schedule();
  }

  /** The timer of the deadline has fired, perhaps early: what is left asks for a timer again. */
  deadlineReached(now: number): void {
    if (this.#deadline !== null && now < this.#deadline) this.#ask(this.#deadline);
    else this.expire(now);
  }

  /** Ends everything: the queue is closed. */
  close(): void {
    for (const type of this.#types.values()) type.due = [];
    this.#dueTypes.clear();
    this.anyDue = false;
    const rest = [...this.#where.values()].sort((a, b) => a.number - b.number);
    for (const kept of rest) this.#end(kept, 'close');
    this.#schedule();
  }

  #schedule(): void {
    const next = this.#next();
    const deadline = next === null ? null : this.#deadlineOf(next);
    if (deadline !== this.#deadline) this.#ask(deadline);
  }

  #ask(deadline: number | null): void {
    this.#deadline = deadline;
    this.#onDeadline(deadline);
  }
}
