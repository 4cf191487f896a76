/**
 * Queue with its policy, and the life of a batch in it: intake, bounds, dispatch points, switch and close. An engine owns no clock,
 * timer or loop (those are the {@link Host}'s) and knows no handler (those are the {@link Sink}'s), so that the same code runs on a
 * virtual clock, at the end of a loop turn, and at the end of the microtask queue. Control runs one way: push, queue, dispatch point,
 * sink. A dispatch point never nests.
 *
 * A push asks the host for one dispatch point (`#scheduled`); during a hold only one that may end it does. There, `#run` lets batches
 * leave until nothing is due or its `#budget` is used up; `#judge` gives each its trigger, or holds the open batch (`#hold` >= 0) and
 * arms the host's timer. Flush, a switch of policy or order, and close cut what is queued into batches beforehand (`#cut`), which leave
 * first. While a batch is with the sink (`#busy`), or a direct push runs its handlers (`#nested`), what handlers ask for waits until that
 * is over (`#afterBatch`).
 *
 * `#closing` goes one way: from `open` to `deliver` (what is queued is to be cut), `delivering` (it has been) and `closed`; or from
 * `open` to `discard` and `closed`. Only `close`, `#afterBatch` and `#finish` change it.
 *
 * It is long because it is one owner: these fields change together, and nothing outside can see them half changed.
 */

import { MillraceError, show } from '@millrace/base/errors';
import { HIGH, LOW, NORMAL, type PriorityClass } from '@millrace/base/priority';
import type { Host } from './host.js';
import { complete, type ParsedQueueOptions, type QueueOptions, queueOptions } from './options.js';
import { Advisor, type Estimates, type Given } from './policy.js';
import { BatchEvent, KeyedEvent, LEFT, Queue, type TypeEntry } from './queue.js';
import { type Counters, newCounters, type QueueStats, snapshot, type Trigger } from './stats.js';

/** Events that leave together. */
export interface Batch<Data = unknown> {
  readonly trigger: Trigger;
  readonly events: BatchEvent<Data>[];
  /** Time at which the batch left, in ms. */
  readonly time: number;
}

/** Receiver of batches. */
export interface Sink<Data = unknown> {
  /**
   * Hands a batch to its handlers. Must not throw. Returns `false` when it is not done yet: then no other batch leaves
   * until `engine.delivered()` is called.
   */
  deliver(batch: Batch<Data>): boolean;
  /** Runs at the start of each dispatch point, before anything leaves. */
  prepare?(now: number): void;
  /** The merge of the event's push threw; the event is queued. Must not throw. */
  failed?(error: unknown, event: BatchEvent<Data>): void;
  /** A queued event is discarded by close. */
  discard?(event: BatchEvent<Data>, error: Error): void;
  /** The queue is closed and everything has been delivered or discarded. */
  end?(): void;
}

/** A batch that was cut by flush, close or a switch and has not left yet. */
type Cut<Data> = Omit<Batch<Data>, 'time'>;

/** Batches that may leave at one dispatch point, so that handlers that keep pushing cannot keep the loop. */
const batchesPerTurn = 8;

export class Engine<Data = unknown> {
  readonly #host: Host;
  readonly #sink: Sink<Data>;
  /** The options that were set, and the complete set that follows from them. */
  #given: Partial<QueueOptions>;
  #options: QueueOptions;
  readonly #advisor: Advisor;
  #queue: Queue;
  #seq = 0;

  /** A dispatch point at the end of this turn has been asked for. */
  #scheduled = false;
  /** A batch is with the sink, or cut batches are on their way to it. */
  #busy = false;
  /** True if a dispatch point came meanwhile: the end of the batch has to be one, replays included. */
  #missed = false;
  /** Direct pushes that are running their handlers, one inside the other. */
  #nested = 0;
  /** Batches cut by flush, close or a switch that have not reached the sink yet; null stands before each series. */
  #cut: (Cut<Data> | null)[] = [];
  /** Number of them that have been taken: shifting the array at every step would cost O(n). */
  #cutTaken = 0;
  /** Batches that may still leave at the dispatch point that is running; 0 when none is. */
  #budget = 0;
  /** The hold that the policy gave the open batch, in ms; -1: the policy has not been asked about it. */
  #hold = -1;
  /** Options have changed since: the next dispatch point asks again. */
  #askAgain = false;
  /** The open batch was left open, at this time. */
  #isHeld = false;
  #heldSince = 0;
  #armed = false;
  /** True when events are refused; `#closing` says what is left to do. */
  #closed = false;
  #closing: 'open' | 'deliver' | 'delivering' | 'discard' | 'closed' = 'open';
  /** Options that a handler switched: applied when the current batch is over. */
  #pending: Partial<QueueOptions> | null = null;
  /** True if pushes matter to the advisor. */
  #estimating = false;
  /** Events from which on it matters to the advisor how long a batch takes. */
  #timedFrom = Number.POSITIVE_INFINITY;
  /** Events that a batch may take that is not held: `maxBatch`, or what fits into `maxBatchTime`. */
  #limit = 0;
  #direct = false;
  /** Open and not direct: an event without a size enters when the queue is below `maxQueue`. */
  #simple = false;
  #maxQueue = 0;
  #maxBytes = 0;

  readonly counters: Counters = newCounters();
  /** Told when a dispatch point asked the policy and left the batch open. */
  onHold: ((holdMs: number) => void) | null = null;
  /** Told when changed options are in force: for `set` in a handler that is later than the call. */
  onApply: (() => void) | null = null;
  /** Told when a newer event of its key has superseded a queued one. */
  onSuperseded: ((older: BatchEvent<Data>, newer: BatchEvent<Data>) => void) | null = null;

  constructor(host: Host, sink: Sink<Data>, options: ParsedQueueOptions = {}) {
    this.#host = host;
    this.#sink = sink;
    this.#given = queueOptions(options);
    this.#options = complete(this.#given);
    this.#queue = new Queue(this.#options.order);
    this.#advisor = new Advisor(host);
    this.#refreshMode();
  }

  // ---- what users of an engine can read

  /** The queue, in which types are looked up. */
  get queue(): Queue {
    return this.#queue;
  }

  /** The options that are in force. */
  get options(): Readonly<QueueOptions> {
    return this.#options;
  }

  /** Arrival number of the last event that was pushed. */
  get lastSeq(): number {
    return this.#seq;
  }

  /** True when events are refused. */
  get closed(): boolean {
    return this.#closed;
  }

  /** A batch is on its way to its handlers: what is pushed now waits for it, under every policy. */
  get busy(): boolean {
    return this.#busy || this.#hasCut;
  }

  /** The type's entry: its settings and its events. */
  entry(type: unknown): TypeEntry {
    return this.#queue.entry(type);
  }

  /** The host's time in ms. */
  now(): number {
    return this.#host.now();
  }

  /** The engine's own estimates; `rate` is that of a type. */
  estimate(type?: unknown): Estimates {
    return this.#advisor.estimate(this.#queue.find(type) ?? null, this.#host.now());
  }

  /** Gives the policy signals in place of the estimates, for tests and replays; `rate` for one type when it is named. */
  give(given: Given, type?: unknown): void {
    this.#advisor.give(given, type === undefined ? null : this.entry(type));
  }

  stats(): QueueStats {
    const policy = this.#advisor.stats(this.#host.now());
    return snapshot(this.counters, this.#queue, this.#seq, this.#options, policy);
  }

  // ---- push

  /**
   * Pushes an event. Throws MILLRACE_E_OVERLOADED or MILLRACE_E_CLOSED, and then nothing has changed. O(1).
   * `priority` is a class, or -1 for the type's own.
   */
  push(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass | -1,
    bytes: number,
    context: object | null,
  ): BatchEvent<Data> {
    const level = priority === -1 ? entry.priority : priority;
    const queue = this.#queue;
    if (
      !this.#simple ||
      bytes !== 0 ||
      queue.count >= this.#maxQueue ||
      queue.bytes > this.#maxBytes
    ) {
      if (this.#leavesAtOnce) return this.#pushDirect(entry, data, level, bytes, context);
      this.#admit(bytes);
    }
    const tick = this.#host.tick();
    const event = new BatchEvent(entry, data, level, bytes, tick, ++this.#seq, context);
    queue.push(event);
    if (this.#estimating) this.#advisor.pushed(entry);
    // At a dispatch point that is running, what handlers push is judged there.
    if (!this.#scheduled && this.#budget === 0) this.#ask(level);
    return event;
  }

  /** Asks for a dispatch point after a push of this class. Apart from `push`, which is inlined where it is called. */
  #ask(level: PriorityClass): void {
    if (this.#hold < 0 || this.#endsHold(level)) this.#schedule();
  }

  /** Reports whether the hold of the open batch may end with an event of this class that has just been pushed. */
  #endsHold(level: PriorityClass): boolean {
    return level === HIGH || this.#isFull || this.#isOverThreshold;
  }

  get #isFull(): boolean {
    return this.#queue.count >= this.#options.maxBatch || this.#queue.hasFullType;
  }

  get #isOverThreshold(): boolean {
    const { threshold } = this.#options;
    return threshold > 0 && this.#queue.count >= threshold;
  }

  /**
   * Pushes an event with a key: it supersedes the queued one of its type and key. Errors as `push`. O(1), and the type's `merge`, which
   * may call anything here.
   */
  pushKeyed(
    entry: TypeEntry,
    key: unknown,
    data: Data,
    priority: PriorityClass | -1,
    bytes: number,
    context: object | null,
  ): BatchEvent<Data> {
    const found = this.#hasKeys
      ? (entry.keys?.get(key) as KeyedEvent<Data> | undefined)
      : undefined;
    let older = found ?? null;
    let merged = { data, bytes };
    let failure: { error: unknown } | null = null;
    if (older !== null && entry.merge !== null) {
      try {
        merged = entry.merge(older, data, bytes) as typeof merged;
      } catch (error) {
        failure = { error };
      }
      if (failure !== null || entry.keys!.get(key) !== older) {
        older = null;
        merged = { data, bytes };
      }
    }
    // Asked again: `merge` may have closed the queue or switched its policy.
    if (!this.#hasKeys) return this.push(entry, data, priority, bytes, context);
    this.#admit(merged.bytes, older);
    const level = priority === -1 ? entry.priority : priority;
    const event = this.#queueKeyed(entry, key, merged, level, context, older);
    if (this.#estimating) this.#advisor.pushed(entry);
    // A hold, if there is one, goes on: there are no more events than before.
    const waits = older !== null && (level !== HIGH || older.priority === HIGH);
    if (!waits && !this.#scheduled && this.#budget === 0) this.#ask(level);
    if (older !== null) {
      this.counters.superseded++;
      this.onSuperseded?.(older, event);
    }
    if (failure !== null) this.#sink.failed?.(failure.error, event);
    return event;
  }

  /** Queues an event with a key in the place of the older one if they have the same class, else at the end of its lane. */
  #queueKeyed(
    entry: TypeEntry,
    key: unknown,
    { data, bytes }: { data: Data; bytes: number },
    level: PriorityClass,
    context: object | null,
    older: KeyedEvent<Data> | null,
  ): KeyedEvent<Data> {
    const queue = this.#queue;
    const seq = ++this.#seq;
    if (older !== null && older.priority === level) {
      const { tick } = older;
      const event = new KeyedEvent(entry, data, level, bytes, tick, older.seq, context, key);
      queue.replace(older, event);
      return event;
    }
    if (older !== null) queue.remove(older);
    const tick = this.#host.tick();
    const event = new KeyedEvent(entry, data, level, bytes, tick, seq, context, key);
    queue.pushKeyed(event);
    return event;
  }

  /** Keys count where events are queued: open, and not under `direct`. */
  get #hasKeys(): boolean {
    return !this.#direct && !this.#closed;
  }

  get #leavesAtOnce(): boolean {
    return this.#direct && !this.#closed && !this.#busy && this.#queue.count === 0;
  }

  /** Throws when the event may not enter. `older` is the one that it would supersede. */
  #admit(bytes: number, older: BatchEvent | null = null): void {
    const { refused } = this.counters;
    if (this.#closed) {
      refused.closed++;
      throw new MillraceError('MILLRACE_E_CLOSED', 'the queue is closed; push before close()');
    }
    const queued = this.#queue.count - (older === null ? 0 : 1);
    const queuedBytes = this.#queue.bytes - (older === null ? 0 : older.bytes);
    const { maxQueue, maxQueueBytes } = this.#options;
    const hasRoom = queued < maxQueue && queuedBytes + bytes <= maxQueueBytes;
    if (this.#direct || hasRoom) return;
    refused.overloaded++;
    throw overloaded(
      queued >= maxQueue
        ? `${queued} events are queued and maxQueue is ${maxQueue}`
        : `${queuedBytes} bytes are queued, the event has ${bytes} and maxQueueBytes is ${maxQueueBytes}`,
    );
  }

  #pushDirect(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass,
    bytes: number,
    context: object | null,
  ): BatchEvent<Data> {
    const tick = this.#host.tick();
    const event = new BatchEvent(entry, data, priority, bytes, tick, ++this.#seq, context);
    event.stage = LEFT;
    this.#nested++;
    this.#leave([event], 'size');
    this.#nested--;
    if (this.#nested === 0) {
      this.#afterBatch();
      this.#deliverCut();
    }
    return event;
  }

  /** Removes a queued event; false if it has left already. */
  cancel(event: BatchEvent): boolean {
    if (!this.#queue.remove(event)) return false;
    this.counters.cancelled++;
    if (this.#queue.count === 0) this.#endHold();
    return true;
  }

  // ---- dispatch points

  /** The end of the turn that `schedule()` asked for. */
  turn(): void {
    if (!this.#scheduled) return;
    this.#scheduled = false;
    this.#begin();
  }

  /** The time that `arm()` asked for has come. */
  holdEnded(): void {
    this.#armed = false;
    const oldest = this.#queue.oldest();
    if (oldest === null || this.#hold < 0) return;
    // The event that the hold began with was cancelled, or the timer came early.
    if (this.#waitsOn(oldest.time, this.#host.now())) this.#arm(oldest.time + this.#hold);
    else this.#begin();
  }

  /**
   * Reports whether an event pushed at this time is still within the hold; not when the clock went back, which says nothing
   * about its wait.
   */
  #waitsOn(pushed: number, now: number): boolean {
    return now < pushed + this.#hold && now >= pushed;
  }

  #arm(deadlineMs: number): void {
    this.#armed = true;
    this.#host.arm(deadlineMs);
  }

  /** Asks for a dispatch point at the end of this turn: something became due without a push. */
  wake(): void {
    if (!this.#scheduled && this.#closing !== 'closed') this.#schedule();
  }

  #schedule(): void {
    this.#scheduled = true;
    this.#host.schedule();
  }

  #begin(): void {
    // A batch is still being delivered one event at a time: its end is the next dispatch point.
    if (this.#busy) {
      this.#missed = true;
      return;
    }
    this.#missed = false;
    const now = this.#host.now();
    if (this.#advisor.touched.length > 0) this.#advisor.fold(now);
    this.#budget = batchesPerTurn;
    this.#prepare(now);
    this.#run();
  }

  /** Lets batches leave until nothing is due, the budget is used up, or the sink needs time. */
  #run(): void {
    for (;;) {
      if (!this.#deliverCut()) return;
      const queue = this.#queue;
      if (queue.count === 0) break;
      if (this.#direct) {
        this.#cutOneByOne();
        continue;
      }
      if (this.#budget === 0) {
        if (!this.#scheduled) this.#schedule();
        return;
      }
      const trigger = this.#judge();
      if (trigger === null) break;
      const now = this.#host.now();
      const isHeld = this.#hold > 0;
      const limit = isHeld ? this.#options.maxBatch : this.#limit;
      // A window that does not hold shows what not holding costs; trials of the limit would make it look dearer.
      const isCompared = this.#estimating && this.#hold === 0 && this.#advisor.isComparing;
      const batch = this.#take(now, limit);
      // Events that `maxBatchTime` has cut off wait for the next turn, after input and timers.
      const isCut = batch.length === limit && limit < this.#options.maxBatch && queue.count > 0;
      this.#budget = isCut ? 0 : this.#budget - 1;
      this.#countHold(now);
      this.#endHold();
      if (!this.#handOn(batch, trigger, !isHeld && !isCompared)) return;
    }
    this.#budget = 0;
  }

  /** The sink has finished the batch for which it returned `false`. */
  delivered(): void {
    this.#busy = false;
    if (this.#advisor.touched.length > 0) this.#advisor.fold(this.#host.now());
    this.#afterBatch();
    if (this.#missed && !this.#closed) {
      this.#begin();
      return;
    }
    if (this.#budget === 0) {
      // Not within a dispatch point: this is one.
      this.#budget = batchesPerTurn;
    }
    this.#run();
  }

  /** Returns the trigger with which the open batch leaves, or null when it stays open. */
  #judge(): Trigger | null {
    const queue = this.#queue;
    const options = this.#options;
    if (this.#isFull) return 'size';
    const now = this.#host.now();
    const asked = this.#hold < 0 || this.#askAgain;
    if (asked) {
      this.#askAgain = false;
      // Without a delay there is nothing to ask: the common case costs no estimate.
      this.#hold =
        options.maxDelay === 0 ? 0 : this.#advisor.hold(now, this.counters.batched, this.#seq);
    }
    const hold = this.#hold;
    if (hold === 0) return queue.count > this.#limit ? 'size' : 'turn';
    if (queue.depth(HIGH) > 0) return 'priority';
    if (this.#isOverThreshold) return 'threshold';
    const pushed = queue.oldest()!.time;
    if (!this.#waitsOn(pushed, now)) return 'delay';
    if (!this.#isHeld) {
      this.#isHeld = true;
      this.#heldSince = now;
    }
    this.#arm(pushed + hold);
    if (asked) this.onHold?.(hold);
    return null;
  }

  #countHold(now: number): void {
    if (!this.#isHeld) return;
    this.counters.holds++;
    this.counters.holdMs += now - this.#heldSince;
  }

  #endHold(): void {
    this.#hold = -1;
    this.#askAgain = false;
    this.#isHeld = false;
    if (!this.#armed) return;
    this.#armed = false;
    this.#host.arm(null);
  }

  /** Takes a batch out of the queue and notes how long its events have waited. */
  #take(now: number, limit = this.#options.maxBatch): BatchEvent[] {
    const queue = this.#queue;
    const batch = queue.take(limit, now, this.#options.maxDeferral);
    const { worstWait, waited, waitMs } = this.counters;
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      const tick = queue.taken[priority];
      if (tick === null) continue;
      const wait = now - tick.time;
      worstWait[priority] = Math.max(worstWait[priority], wait);
      waited[priority]++;
      waitMs[priority] += wait;
    }
    return batch;
  }

  /** Gives a batch to the sink; false when the sink needs time. */
  #handOn(events: BatchEvent[], trigger: Trigger, limits: boolean): boolean {
    this.#busy = true;
    const isDone =
      events.length >= this.#timedFrom
        ? this.#measure(events, trigger, limits)
        : this.#leave(events, trigger);
    if (!isDone) return false;
    this.#busy = false;
    this.#afterBatch();
    return true;
  }

  /** Gives a batch to the sink, and tells the advisor how long that took. */
  #measure(events: BatchEvent[], trigger: Trigger, limits: boolean): boolean {
    const { length } = events;
    const start = this.#host.clock();
    const isDone = this.#leave(events, trigger);
    const end = this.#host.clock();
    this.#advisor.handed(length, end - start, end, limits);
    this.#refreshLimit();
    return isDone;
  }

  #leave(events: BatchEvent[], trigger: Trigger): boolean {
    return this.#deliver({
      trigger,
      events: events as BatchEvent<Data>[],
      time: this.#host.now(),
    });
  }

  /** Apart from `#leave`: as one function, which is inlined with what a sink does for each event, the two cost `batch()` 8 %. */
  #deliver(batch: Batch<Data>): boolean {
    const { counters } = this;
    counters.batches++;
    counters.batched += batch.events.length;
    counters.trigger[batch.trigger]++;
    return this.#sink.deliver(batch);
  }

  /** Lets the sink do what is due before anything leaves; its handlers may ask for things as a batch's may. */
  #prepare(now: number): void {
    if (this.#sink.prepare === undefined) return;
    // Under `direct` what its handlers push runs inside the push, as ever; else it has to wait.
    if (this.#direct) this.#nested++;
    else this.#busy = true;
    this.#sink.prepare(now);
    if (this.#direct) this.#nested--;
    else this.#busy = false;
    this.#afterBatch();
  }

  /** Does what handlers asked for while their batch was running. */
  #afterBatch(): void {
    if (this.#pending !== null) {
      // Batches that were cut under the old options leave under them.
      if (this.#hasCut) return;
      const changes = this.#pending;
      this.#pending = null;
      this.#switch(changes);
    }
    if (this.#closing !== 'deliver') return;
    this.#closing = 'delivering';
    this.#cutAll('close');
  }

  get #inHandler(): boolean {
    return this.#busy || this.#nested > 0;
  }

  // ---- batches that were cut beforehand

  get #hasCut(): boolean {
    return this.#cutTaken < this.#cut.length;
  }

  #nextCut(): Cut<Data> | null {
    const batch = this.#cut[this.#cutTaken]!;
    this.#cut[this.#cutTaken++] = null;
    if (this.#cutTaken === this.#cut.length) {
      this.#cut = [];
      this.#cutTaken = 0;
    }
    return batch;
  }

  /** Hands on the batches that were cut beforehand. False when the sink needs time. */
  #deliverCut(): boolean {
    while (this.#hasCut) {
      const batch = this.#nextCut();
      const now = this.#host.now();
      if (batch === null) {
        this.#prepare(now);
        continue;
      }
      this.#busy = true;
      if (!this.#deliver({ ...batch, time: now })) return false;
      this.#busy = false;
      this.#afterBatch();
    }
    if (this.#closing === 'delivering' || this.#closing === 'discard') this.#finish();
    return true;
  }

  /** Cuts everything queued into batches that leave for this reason. */
  #cutAll(trigger: Trigger): void {
    const now = this.#host.now();
    this.#countHold(now);
    this.#cut.push(null);
    while (this.#queue.count > 0) {
      this.#cut.push({ trigger, events: this.#take(now) as BatchEvent<Data>[] });
    }
    this.#endHold();
  }

  /** Pushed under `direct`, by handlers of batches that a switch cut: each leaves as if it had just been pushed. */
  #cutOneByOne(): void {
    for (const event of this.#take(this.#host.now(), this.#queue.count) as BatchEvent<Data>[]) {
      this.#cut.push({ trigger: 'size', events: [event] });
    }
  }

  /** Hands on everything that is queued now; in a handler: when its batch is over. */
  flush(): void {
    if (this.#closing !== 'open') return;
    this.#cutAll('flush');
    this.#drainCut();
  }

  #drainCut(): void {
    if (this.#inHandler) return;
    if (!this.#deliverCut()) return;
    // Under `direct` what the handlers pushed must not stay behind.
    if (this.#direct && !this.#busy) this.#run();
  }

  // ---- switch and close

  /** Changes options, which whoever takes them from the user has parsed. */
  set(given: Partial<QueueOptions>): void {
    if (this.#closing !== 'open') return;
    if (!this.#switches(given)) {
      // These two are as they are, or on their way: see `#pending`.
      const { policy: _policy, order: _order, ...others } = given;
      this.#apply(others);
      // What was to be switched to does not bring back what is set later.
      if (this.#pending !== null) this.#pending = { ...this.#pending, ...others };
      this.#askAgain = this.#hold >= 0;
      if (this.#queue.count > 0 && this.#budget === 0) this.wake();
    } else if (this.#inHandler) {
      this.#pending = { ...this.#pending, ...given };
    } else {
      this.#switch(given);
      this.#drainCut();
    }
  }

  #switches({ policy, order }: Partial<QueueOptions>): boolean {
    const coming = { ...this.#options, ...this.#pending };
    return (policy ?? coming.policy) !== coming.policy || (order ?? coming.order) !== coming.order;
  }

  /** Cuts what is queued under the old options and applies the new ones. */
  #switch(changes: Partial<QueueOptions>): void {
    this.#cutAll('flush');
    const { order } = this.#options;
    this.#apply(changes);
    if (order !== this.#options.order) this.#queue = this.#queue.reordered(this.#options.order);
  }

  #apply(changes: Partial<QueueOptions>): void {
    this.#given = { ...this.#given, ...changes };
    this.#options = complete(this.#given);
    this.#refreshMode();
    this.onApply?.();
  }

  #refreshMode(): void {
    this.#advisor.configure(this.#options);
    this.#direct = this.#options.policy === 'direct';
    this.#simple = !this.#direct && !this.#closed;
    this.#maxQueue = this.#options.maxQueue;
    this.#maxBytes = this.#options.maxQueueBytes;
    this.#estimating = this.#advisor.estimating;
    this.#refreshLimit();
  }

  #refreshLimit(): void {
    this.#limit = this.#advisor.limit();
    this.#timedFrom = this.#advisor.timedFrom();
  }

  /** Delivers what is queued, or discards it, and refuses every later push. Closing again does nothing. */
  close(discard = false): void {
    if (this.#closing !== 'open') return;
    this.#closed = true;
    this.#simple = false;
    this.#closing = discard ? 'discard' : 'deliver';
    if (this.#inHandler) return;
    this.#afterBatch();
    this.#deliverCut();
  }

  #finish(): void {
    if (this.#closing === 'discard') {
      const now = this.#host.now();
      while (this.#queue.count > 0) {
        const { maxBatch, maxDeferral } = this.#options;
        for (const event of this.#queue.take(maxBatch, now, maxDeferral) as BatchEvent<Data>[]) {
          this.counters.refused.cancelled++;
          this.#sink.discard?.(event, cancelled());
        }
      }
    }
    this.#closing = 'closed';
    this.#endHold();
    this.#sink.end?.();
  }
}

// ---- the errors that a refused caller sees

function overloaded(why: string): MillraceError {
  return new MillraceError(
    'MILLRACE_E_OVERLOADED',
    `the queue is full: ${why}; retry later, push less, or raise the bound`,
  );
}

function cancelled(): MillraceError {
  return new MillraceError(
    'MILLRACE_E_CANCELLED',
    'the event was discarded by close({ discard: true }); without discard it would have been delivered',
  );
}

/** A size that a size function or a caller gave. */
export function checkBytes(bytes: unknown): number {
  if (typeof bytes === 'number' && bytes >= 0 && Number.isSafeInteger(bytes)) return bytes;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the size of an event is ${show(bytes)}; it must be an integer of bytes from 0 to 2^53 - 1`,
  );
}
