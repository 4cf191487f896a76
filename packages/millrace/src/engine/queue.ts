/**
 * The hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and look-up by
 * type are O(1); taking a batch is O(1) an event, plus, with order `type`, the lanes that have events.
 *
 * It knows no policy and no clock: the caller says how many events a batch can hold and what time it is.
 *
 * Aging, so that nothing starves: an event counts as one class higher for each `maxDeferral` that it has waited. No event is
 * moved for that, and no timer runs. A lane is first in, first out, so its aged events are its first ones, and a batch merges
 * the heads of the lanes. First leave, by arrival, all events that count as HIGH: the HIGH ones, the NORMAL ones that have
 * waited once, the LOW ones that have waited twice. When they are gone, each LOW event that counts as NORMAL is older than
 * every NORMAL one, so those come next and nothing is compared. As long as the oldest NORMAL and the oldest LOW event are
 * young, no event has aged: a batch looks at these two, and that is all it costs.
 *
 * Keys: a type has a map from the key to the queued event of it, made for its first event with a key. A newer event of the same class
 * is put into the lane at the older one's index; one of another class is appended, and the older one is removed as by a cancel. An
 * entry lives as long as its event is queued, so the maps are bounded as the queue is. Events without a key never look at them.
 *
 * Map, lanes and cursors are one file because they share how events are stored, which nothing else knows.
 */
import { classOfType, HIGH, LOW, NORMAL, type PriorityClass } from '@millrace/base/priority';
import type { Order } from './options.js';
import type { Rate } from './policy.js';

/** NORMAL events per LOW one, when a limit cuts a batch. */
const normalPerLow = 8;
/** Up to this many types the map is never swept. */
const fewTypes = 1024;

/** Removed and taken events are moved out of the way when there are this many, and more of them than others. */
const worthMoving = 64;

/** Limit above what any queue can hold; a small integer, which compares faster than Infinity. */
export const unlimited = 2 ** 30;

/** A time in ms, shared by the events of a loop turn: a number of its own in each would be an allocation more. */
export interface Tick {
  readonly time: number;
}

/** An object with a place in the order of arrival, and the time of its push. */
interface Arrived {
  readonly seq: number;
  readonly time: number;
}

/** Reports whether it was pushed at this time or before. */
export function isAged(one: Arrived | null, agedAt: number): boolean {
  return one !== null && one.time <= agedAt;
}

/** The one of two that arrived first; each of them may be missing. */
export function earlier<A extends Arrived>(a: A | null, b: A | null): A | null {
  return a === null || (b !== null && b.seq < a.seq) ? b : a;
}

/** State of an event: waiting in the queue; left in a batch, or taken out; cancelled or superseded before it left. */
const QUEUED = 0;
export const LEFT = 1;
const REMOVED = 2;
type Stage = typeof QUEUED | typeof LEFT | typeof REMOVED;

/** An event on its way. */
export class BatchEvent<Data = unknown> {
  /** The type's entry in the queue's map. */
  readonly entry: TypeEntry;
  readonly data: Data;
  readonly priority: PriorityClass;
  /** Size as far as it is known; counts towards bounds in bytes. */
  readonly bytes: number;
  /** Time of the push. */
  readonly tick: Tick;
  /** Arrival number: orders events of different lanes. */
  readonly seq: number;
  /** The async context of the push, when one is in use. */
  readonly context: object | null;
  stage: Stage = QUEUED;

  constructor(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass,
    bytes: number,
    tick: Tick,
    seq: number,
    context: object | null,
  ) {
    this.entry = entry;
    this.data = data;
    this.priority = priority;
    this.bytes = bytes;
    this.tick = tick;
    this.seq = seq;
    this.context = context;
  }

  get type(): unknown {
    return this.entry.type;
  }

  get time(): number {
    return this.tick.time;
  }
}

/** An event that a newer one of its type and key supersedes while it is queued. A class of its own: others pay nothing for keys. */
export class KeyedEvent<Data = unknown> extends BatchEvent<Data> {
  readonly key: unknown;
  /** Index in its lane. */
  at = 0;

  constructor(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass,
    bytes: number,
    tick: Tick,
    seq: number,
    context: object | null,
    key: unknown,
  ) {
    super(entry, data, priority, bytes, tick, seq, context);
    this.key = key;
  }
}

/** Data that stands for two events, and its size. */
interface Merged<Data = unknown> {
  readonly data: Data;
  readonly bytes: number;
}

/** Combines a queued event with the data and size of a newer one of its key. May throw. */
export type Merge<Data = unknown> = (
  older: BatchEvent<Data>,
  data: Data,
  bytes: number,
) => Merged<Data>;

/**
 * A first-in-first-out list of queued events: one for each class, or for each class of each type (order `type`). An array,
 * and not linked events: those cost twice as much here, in allocation and in a write barrier for each link, and a lane that
 * leaves as a whole leaves as it is. A removed event stays where it is until the lane gets there.
 */
class Lane {
  readonly priority: PriorityClass;
  #events: (BatchEvent | null)[] = [];
  /** Index of the oldest event; null stands before it. */
  #first = 0;
  /** Index after the youngest event. The array may be longer: it is made as long as the last one got. */
  #end = 0;
  /** Events that wait: those in the array that have been neither taken nor removed. */
  count = 0;
  /** Order `type`: whether the lane stands in its class's list of lanes with events. */
  listed = false;

  constructor(priority: PriorityClass) {
    this.priority = priority;
  }

  /** The oldest event. */
  get head(): BatchEvent | null {
    return this.count === 0 ? null : this.#events[this.#first]!;
  }

  append(event: BatchEvent): void {
    this.#events[this.#end++] = event;
    this.count++;
  }

  /** Tells the event that was appended last its index, by which it is found when a newer one takes its place. */
  index(event: KeyedEvent): void {
    event.at = this.#end - 1;
  }

  /** Puts an event in the place of one that waits. */
  replace(older: KeyedEvent, newer: KeyedEvent): void {
    newer.at = older.at;
    this.#events[newer.at] = newer;
  }

  /** Takes the oldest event out. */
  shift(): void {
    this.#events[this.#first] = null;
    this.count--;
    this.#tidy();
  }

  /** Notes that one of its events, the oldest or not, has been marked as removed. */
  removed(): void {
    this.count--;
    this.#tidy();
  }

  /** Number of its events that were pushed after this time, up to `most`. */
  countAfter(time: number, most: number): number {
    let count = 0;
    for (let i = this.#end - 1; count < most && i >= this.#first; i--) {
      const event = this.#events[i]!;
      if (!waits(event)) continue;
      if (event!.time <= time) break;
      count++;
    }
    return count;
  }

  /** Takes all events out, oldest first. The array is the caller's. */
  takeAll(): BatchEvent[] {
    const events = this.#events;
    const end = this.#end;
    const whole = this.count === end;
    events.length = end;
    this.count = 0;
    this.#clear(end);
    return (whole ? events : events.filter(waits)) as BatchEvent[];
  }

  /** Moves on to the oldest event that waits, and drops the rest when it has become most of the array. */
  #tidy(): void {
    if (this.count === 0) {
      this.#clear(0);
      return;
    }
    while (!waits(this.#events[this.#first]!)) this.#events[this.#first++] = null;
    const idle = this.#end - this.count;
    if (idle < worthMoving || idle < this.count) return;
    this.#events.length = this.#end;
    this.#events = this.#events.filter(waits);
    this.#first = 0;
    this.#end = this.#events.length;
    this.#events.forEach((event, at) => {
      if (event instanceof KeyedEvent) event.at = at;
    });
  }

  #clear(capacity: number): void {
    this.#events = new Array(capacity);
    this.#first = 0;
    this.#end = 0;
  }
}

function waits(event: BatchEvent | null): boolean {
  return event !== null && event.stage === QUEUED;
}

/** Entry of the map for a type: how many of its events are queued, its settings, its rate. */
export class TypeEntry {
  readonly type: unknown;
  priority: PriorityClass;
  /** Events of this type a batch can hold; `unlimited` when the type has no limit of its own. */
  maxBatch = unlimited;
  /** Somebody set something for this type or holds on to it: it stays when the type has no events. */
  pinned = false;
  /** Queued events of this type. */
  count = 0;
  /** Order `type`: the type's lane in each class, made when first needed. */
  readonly lanes: [Lane | null, Lane | null, Lane | null] = [null, null, null];
  /** Events pushed since the rate was last updated. */
  fresh = 0;
  /** Number of the sample of costs for which the type was last counted. */
  sample = 0;
  readonly rate: Rate = { value: 0, at: 0 };
  /** The queued event of each key that is in use; made when first needed. */
  keys: Map<unknown, KeyedEvent> | null = null;
  /** Combines the events of a key; null: the newer one replaces the older one. */
  merge: Merge | null = null;
  /** Events of this type in the batch that is being taken, valid for the batch numbered `chosenIn`. */
  chosen = 0;
  chosenIn = 0;

  constructor(type: unknown) {
    this.type = type;
    this.priority = classOfType(type);
  }
}

export class Queue {
  /** Order `type`: lanes are kept for each type. */
  readonly #byType: boolean;
  readonly #types: Map<unknown, TypeEntry>;
  /** Order `arrival`: the one lane of each class. */
  readonly #lanes: readonly [Lane, Lane, Lane] = [new Lane(HIGH), new Lane(NORMAL), new Lane(LOW)];
  /** Order `type`: the lanes with events of each class, the one with the oldest event first unless `#unsorted`. */
  readonly #listed: [Lane[], Lane[], Lane[]] = [[], [], []];
  #unsorted = false;
  /** NORMAL events chosen since the last LOW one; survives batches. */
  #normalSinceLow = 0;
  /** Queued events that have a key. */
  #keyed = 0;
  /** Types that have their own `maxBatch` of events queued: they make a batch full. */
  #fullTypes = 0;
  #batchNumber = 0;
  /** The number of types at which idle ones are forgotten. */
  #sweepAt = fewTypes;

  /** The entry that was asked for last. */
  recent: TypeEntry | null = null;
  /** Time of push per class of the oldest event in the last batch taken; null: it has none of the class. */
  readonly taken: [Tick | null, Tick | null, Tick | null] = [null, null, null];
  /** Events queued, and their bytes. */
  count = 0;
  bytes = 0;

  /** `types` is shared with the queue-map that this one replaces when the order changes. */
  constructor(order: Order, types: Map<unknown, TypeEntry> = new Map()) {
    this.#byType = order === 'type';
    this.#types = types;
  }

  /** Returns a queue with the same types and settings in another order; only for an empty queue. */
  reordered(order: Order): Queue {
    // Lanes that were emptied one by one still think that they are listed, and entries keep their lanes.
    this.#sortLanes();
    const next = new Queue(order, this.#types);
    next.#normalSinceLow = this.#normalSinceLow;
    next.#batchNumber = this.#batchNumber;
    return next;
  }

  get hasFullType(): boolean {
    return this.#fullTypes > 0;
  }

  /** The entry of a type, made if there is none. */
  entry(type: unknown): TypeEntry {
    // Events of one type tend to come one after the other.
    if (this.recent !== null && type === this.recent.type) return this.recent;
    let entry = this.#types.get(type);
    if (entry === undefined) {
      if (this.#types.size >= this.#sweepAt) this.#sweep();
      entry = new TypeEntry(type);
      this.#types.set(type, entry);
    }
    this.recent = entry;
    return entry;
  }

  /**
   * Forgets the types that have no events and no settings, so that names made up as the application runs do not add up.
   * The next sweep waits until the map has doubled, which makes the cost O(1) a type.
   */
  #sweep(): void {
    this.recent = null;
    for (const entry of this.#types.values()) {
      if (entry.count === 0 && !entry.pinned) this.#types.delete(entry.type);
    }
    this.#sweepAt = Math.max(fewTypes, this.#types.size * 2);
  }

  find(type: unknown): TypeEntry | undefined {
    return this.#types.get(type);
  }

  entries(): IterableIterator<TypeEntry> {
    return this.#types.values();
  }

  /** Drops a type that has no events. */
  forget(type: unknown): void {
    if (this.#types.get(type)?.count !== 0) return;
    this.#types.delete(type);
    this.recent = null;
  }

  setMaxBatch(entry: TypeEntry, maxBatch: number): void {
    if (entry.count >= entry.maxBatch) this.#fullTypes--;
    entry.maxBatch = maxBatch;
    if (entry.count >= entry.maxBatch) this.#fullTypes++;
  }

  push(event: BatchEvent): void {
    const { entry, priority, bytes } = event;
    if (this.#byType) this.#typeLane(entry, priority).append(event);
    else this.#lanes[priority].append(event);
    if (++entry.count === entry.maxBatch) this.#fullTypes++;
    this.count++;
    this.bytes += bytes;
  }

  /** Pushes an event with a key; from here on it is the one that a newer event of the key supersedes. */
  pushKeyed(event: KeyedEvent): void {
    const { entry } = event;
    this.push(event);
    this.#lane(event).index(event);
    this.#keyed++;
    entry.keys ??= new Map();
    entry.keys.set(event.key, event);
  }

  /** Puts an event in the place of a queued one of the same type, key and class. */
  replace(older: KeyedEvent, newer: KeyedEvent): void {
    this.#lane(older).replace(older, newer);
    older.stage = REMOVED;
    older.entry.keys!.set(newer.key, newer);
    this.bytes += newer.bytes - older.bytes;
  }

  /** Takes out a queued event that is cancelled or superseded; false if it has left or been taken out already. */
  remove(event: BatchEvent): boolean {
    if (event.stage !== QUEUED) return false;
    const lane = this.#lane(event);
    // A lane that loses its oldest event may have to give way to another.
    if (lane.head === event) this.#unsorted = true;
    event.stage = REMOVED;
    lane.removed();
    this.#gone(event);
    return true;
  }

  #gone(event: BatchEvent): void {
    const { entry } = event;
    if (entry.count-- === entry.maxBatch) this.#fullTypes--;
    this.count--;
    this.bytes -= event.bytes;
    if (this.#keyed === 0 || !(event instanceof KeyedEvent)) return;
    this.#keyed--;
    this.freeKey(event);
  }

  /** Ends superseding of an event by newer ones. One may have its key already: their merge had failed. */
  freeKey(event: KeyedEvent): void {
    const { entry, key } = event;
    if (entry.keys!.get(key) === event) entry.keys!.delete(key);
  }

  /** The lane that a queued event is in. */
  #lane({ entry, priority }: BatchEvent): Lane {
    return this.#byType ? entry.lanes[priority]! : this.#lanes[priority];
  }

  /** Events queued of a class. */
  depth(priority: PriorityClass): number {
    if (!this.#byType) return this.#lanes[priority].count;
    return this.#listed[priority].reduce((sum, lane) => sum + lane.count, 0);
  }

  /** The queued event that arrived first, or null. */
  oldest(): BatchEvent | null {
    if (this.#byType) this.#sortLanes();
    let oldest: BatchEvent | null = null;
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      oldest = earlier(oldest, this.#head(priority));
    }
    return oldest;
  }

  /**
   * Takes a batch of at most `limit` events out of the queue: those that count as HIGH at `now`, then as NORMAL, then as LOW.
   */
  take(limit: number, now: number, maxDeferral: number): BatchEvent[] {
    if (this.#byType) this.#sortLanes();
    this.taken.fill(null);
    const agedAt = now - maxDeferral;
    const whole = this.count <= limit && this.#fullTypes === 0;
    if (whole && !this.#merges(agedAt)) return this.#takeAll(agedAt);
    return this.#choose(limit, [Number.POSITIVE_INFINITY, agedAt, agedAt - maxDeferral]);
  }

  /** Reports whether an aged event goes before one of a higher class, or could. */
  #merges(agedAt: number): boolean {
    const isAlone = !this.#byType && this.#lanes[HIGH].count === 0;
    return isAged(this.#head(LOW), agedAt) || (isAged(this.#head(NORMAL), agedAt) && !isAlone);
  }

  /** Takes everything, each class as it is: no choice to make, only the order. */
  #takeAll(agedAt: number): BatchEvent[] {
    const normals = isAged(this.#head(NORMAL), agedAt)
      ? this.#lanes[NORMAL].countAfter(agedAt, normalPerLow)
      : this.depth(NORMAL);
    const lows = this.depth(LOW);
    let batch: BatchEvent[] = [];
    const append = (lane: Lane) => {
      const events = lane.takeAll();
      if (batch.length === 0) batch = events;
      else for (const event of events) batch.push(event);
    };
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      // The first lane of a class has its oldest event.
      const lanes = this.#byType ? this.#listed[priority] : [this.#lanes[priority]];
      this.taken[priority] = lanes[0]?.head?.tick ?? null;
      for (const lane of lanes) append(lane);
    }
    for (const event of batch) {
      event.stage = LEFT;
      event.entry.count = 0;
    }
    if (this.#keyed > 0) {
      for (const { entry } of batch)
        if (entry.keys !== null && entry.keys.size > 0) entry.keys.clear();
      this.#keyed = 0;
    }
    if (lows > 0) this.#normalSinceLow = 0;
    else this.#normalSinceLow = Math.min(normalPerLow, this.#normalSinceLow + normals);
    for (const lanes of this.#listed) {
      for (const lane of lanes) lane.listed = false;
      lanes.length = 0;
    }
    this.#unsorted = false;
    this.count = 0;
    this.bytes = 0;
    return batch;
  }

  #choose(limit: number, agedAt: AgedAt): BatchEvent[] {
    const cut = this.count > limit;
    const number = ++this.#batchNumber;
    const batch: BatchEvent[] = [];
    const low: BatchEvent[] = [];
    const cursor = this.#byType
      ? new TypeCursor(this.#listed, agedAt)
      : new ArrivalCursor(this.#lanes, agedAt);
    let highIsOver = false;
    while (batch.length + low.length < limit) {
      const high: BatchEvent | null = highIsOver ? null : cursor.high();
      highIsOver = high === null;
      const normal = high ?? cursor.normal();
      const lowsTurn = normal === null || (cut && this.#normalSinceLow >= normalPerLow);
      const lowOne = high === null && lowsTurn ? cursor.low() : null;
      const event = lowOne ?? normal;
      if (event === null) break;
      const { entry } = event;
      if (entry.chosenIn !== number) {
        entry.chosenIn = number;
        entry.chosen = 0;
      }
      if (entry.chosen === entry.maxBatch) break;
      entry.chosen++;
      this.#takeHead(event);
      if (lowOne !== null) {
        low.push(event);
        this.#normalSinceLow = 0;
      } else {
        batch.push(event);
        if (high === null) this.#normalSinceLow = Math.min(normalPerLow, this.#normalSinceLow + 1);
      }
    }
    // Order `type`: a lane that was cut may now be younger than others, an emptied one has to go.
    this.#unsorted = true;
    return low.length === 0 ? batch : batch.concat(low);
  }

  /** Takes out an event that is the oldest of its lane. */
  #takeHead(event: BatchEvent): void {
    const { priority } = event;
    event.stage = LEFT;
    const oldest = this.taken[priority];
    if (oldest === null || event.tick.time < oldest.time) this.taken[priority] = event.tick;
    this.#lane(event).shift();
    this.#gone(event);
  }

  /** The oldest event of a class, or null; its lanes are sorted. */
  #head(priority: PriorityClass): BatchEvent | null {
    return this.#byType ? (this.#listed[priority][0]?.head ?? null) : this.#lanes[priority].head;
  }

  #typeLane(entry: TypeEntry, priority: PriorityClass): Lane {
    let lane = entry.lanes[priority];
    if (lane === null) {
      lane = new Lane(priority);
      entry.lanes[priority] = lane;
    }
    if (!lane.listed) {
      // The new event is the youngest of all, so the end of the list is its lane's place.
      lane.listed = true;
      this.#listed[priority].push(lane);
    } else if (lane.head === null) {
      this.#unsorted = true;
    }
    return lane;
  }

  /** Brings the lists of lanes in order: after a cut or a removal only, so that a removal itself stays O(1). */
  #sortLanes(): void {
    if (!this.#unsorted) return;
    this.#unsorted = false;
    sortLanes(this.#listed);
  }
}

/** Drops emptied lanes and sorts the others by their oldest event. */
function sortLanes(listed: [Lane[], Lane[], Lane[]]): void {
  for (const priority of [HIGH, NORMAL, LOW] as const) {
    const lanes = listed[priority].filter((lane) => {
      lane.listed = lane.head !== null;
      return lane.listed;
    });
    lanes.sort((a, b) => a.head!.seq - b.head!.seq);
    listed[priority] = lanes;
  }
}

/** Up to which push an event counts as its own class, as one class higher, as two. */
type AgedAt = readonly [number, number, number];

/** Shows which event of each class would be chosen next. HIGH is over before the others are asked for. */
abstract class Cursor {
  readonly #agedAt: AgedAt;

  constructor(agedAt: AgedAt) {
    this.#agedAt = agedAt;
  }

  /** The next event that counts as HIGH. */
  abstract high(): BatchEvent | null;
  /** The next event that counts as NORMAL. */
  abstract normal(): BatchEvent | null;
  /** The next event that counts as LOW. */
  abstract low(): BatchEvent | null;

  /** Reports whether an event counts as this class or a higher one. */
  protected counts(event: BatchEvent | null, as: PriorityClass): event is BatchEvent {
    return event !== null && event.time <= this.#agedAt[event.priority - as]!;
  }
}

class ArrivalCursor extends Cursor {
  readonly #lanes: readonly [Lane, Lane, Lane];

  constructor(lanes: readonly [Lane, Lane, Lane], agedAt: AgedAt) {
    super(agedAt);
    this.#lanes = lanes;
  }

  high(): BatchEvent | null {
    const first = earlier(this.#lanes[HIGH].head, this.#aged(NORMAL, HIGH));
    return earlier(first, this.#aged(LOW, HIGH));
  }

  normal(): BatchEvent | null {
    return this.#aged(LOW, NORMAL) ?? this.#lanes[NORMAL].head;
  }

  low(): BatchEvent | null {
    const { head } = this.#lanes[LOW];
    return this.counts(head, NORMAL) ? null : head;
  }

  #aged(priority: PriorityClass, as: PriorityClass): BatchEvent | null {
    const { head } = this.#lanes[priority];
    return this.counts(head, as) ? head : null;
  }
}

/**
 * Walks lanes that are sorted by their oldest event. Of a lane, all events that count as one class are taken before another lane
 * starts; the rest is placed anew, by its oldest event.
 */
class TypeCursor extends Cursor {
  readonly #listed: [Lane[], Lane[], Lane[]];
  readonly #at: [number, number, number] = [0, 0, 0];
  /** The lane that HIGH events, and later NORMAL ones, are being taken from. */
  #group: Lane | null = null;
  #lowGroup: Lane | null = null;
  /** True if NORMAL or LOW lanes had events that count as HIGH. */
  #hasAged = false;
  /** The next of the LOW lanes that had no aged event; and those that lost theirs, the one with the oldest event first. */
  #lowAt = -1;
  readonly #replaced: Lane[] = [];

  constructor(listed: [Lane[], Lane[], Lane[]], agedAt: AgedAt) {
    super(agedAt);
    this.#listed = listed;
  }

  high(): BatchEvent | null {
    const head = this.#group?.head ?? null;
    if (this.counts(head, HIGH)) return head;
    let first = this.#next(HIGH, HIGH);
    for (const priority of [NORMAL, LOW] as const) {
      const lane = this.#next(priority, HIGH);
      if (lane === null) continue;
      this.#hasAged = true;
      if (first === null || lane.head!.seq < first.head!.seq) first = lane;
    }
    this.#group = first;
    if (first === null && this.#hasAged) {
      sortLanes(this.#listed);
      this.#at.fill(0);
    }
    return first?.head ?? null;
  }

  normal(): BatchEvent | null {
    if (this.#lowAt < 0) {
      // LOW lanes are sorted by their oldest event: those with an aged one come first.
      const young = this.#listed[LOW].findIndex(({ head }) => !this.counts(head, NORMAL));
      this.#lowAt = young < 0 ? this.#listed[LOW].length : young;
    }
    const group = this.#group;
    const head = group?.head ?? null;
    if (this.counts(head, NORMAL)) return head;
    // What is left in a LOW lane counts as LOW from here on, and its lane is placed anew.
    if (head !== null) insert(this.#replaced, group!);
    this.#group = this.#next(LOW, NORMAL) ?? this.#next(NORMAL, NORMAL);
    return this.#group?.head ?? null;
  }

  low(): BatchEvent | null {
    const group = this.#lowGroup;
    if (group !== null && group.head !== null) return group.head;
    const lanes = this.#listed[LOW];
    const [listed, replaced] = [lanes[this.#lowAt] ?? null, this.#replaced[0] ?? null];
    const takesReplaced =
      replaced !== null && (listed === null || replaced.head!.seq < listed.head!.seq);
    if (takesReplaced) this.#replaced.shift();
    else if (listed !== null) this.#lowAt++;
    this.#lowGroup = takesReplaced ? replaced : listed;
    return this.#lowGroup?.head ?? null;
  }

  /** The next lane of a class, if its oldest event counts as this one. Of the lanes, only the last group has given events. */
  #next(priority: PriorityClass, as: PriorityClass): Lane | null {
    const lanes = this.#listed[priority];
    if (lanes[this.#at[priority]] === this.#group) this.#at[priority]++;
    const lane = lanes[this.#at[priority]] ?? null;
    return lane !== null && this.counts(lane.head, as) ? lane : null;
  }
}

/** Puts a lane into lanes that are sorted by their oldest event. */
function insert(lanes: Lane[], lane: Lane): void {
  let at = lanes.length;
  while (at > 0 && lanes[at - 1]!.head!.seq > lane.head!.seq) at--;
  lanes.splice(at, 0, lane);
}
