/**
 * The hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and look-up by
 * type are O(1); taking a batch is O(1) an event, plus, with order `type`, the lanes that have events.
 *
 * It knows no policy and no clock: the caller says how many events a batch can hold and what time it is.
 */
import { HIGH, LOW, NORMAL, type PriorityClass } from '../intake/priority.js';
import type { Order } from '../options.js';
import { type BatchEvent, CANCELLED, LEFT, QUEUED, type Tick } from './event.js';
import { Lane } from './lane.js';
import { TypeEntry } from './type-entry.js';

/** When a limit cuts a batch, this many NORMAL events are chosen for one LOW one. */
const normalPerLow = 8;
/** Up to this many types the map is never swept. */
const fewTypes = 1024;

export class QueueMap {
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
  /** Types that have their own `maxBatch` of events queued: they make a batch full. */
  #fullTypes = 0;
  #batchNumber = 0;
  /** The number of types at which idle ones are forgotten. */
  #sweepAt = fewTypes;

  /** The entry that was asked for last. */
  recent: TypeEntry | null = null;
  /** For each class, the push of the oldest event in the batch that was taken last; null: it has none of the class. */
  readonly taken: [Tick | null, Tick | null, Tick | null] = [null, null, null];
  /** Events queued, and their bytes. */
  count = 0;
  bytes = 0;

  /** `types` is shared with the queue-map that this one replaces when the order changes. */
  constructor(order: Order, types: Map<unknown, TypeEntry> = new Map()) {
    this.#byType = order === 'type';
    this.#types = types;
  }

  /** The same types and settings in another order; only for an empty queue. */
  reordered(order: Order): QueueMap {
    // Lanes that were emptied one by one still think that they are listed, and entries keep their lanes.
    this.#sortLanes();
    const next = new QueueMap(order, this.#types);
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

  get typeCount(): number {
    return this.#types.size;
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

  /** Takes a queued event back; false if it has left or been taken back already. */
  cancel(event: BatchEvent): boolean {
    if (event.stage !== QUEUED) return false;
    const lane = this.#byType ? event.entry.lanes[event.priority]! : this.#lanes[event.priority];
    // A lane that loses its oldest event may have to give way to another.
    if (lane.head === event) this.#unsorted = true;
    event.stage = CANCELLED;
    lane.cancelled();
    this.#gone(event);
    return true;
  }

  #gone(event: BatchEvent): void {
    const { entry } = event;
    if (entry.count-- === entry.maxBatch) this.#fullTypes--;
    this.count--;
    this.bytes -= event.bytes;
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
      const lane = this.#byType ? this.#listed[priority][0] : this.#lanes[priority];
      const head = lane?.head ?? null;
      if (head !== null && (oldest === null || head.seq < oldest.seq)) oldest = head;
    }
    return oldest;
  }

  /**
   * Takes a batch of at most `limit` events out of the queue: HIGH, then NORMAL, then LOW. LOW events pushed at or before
   * `agedAt` count as NORMAL.
   */
  take(limit: number, agedAt: number): BatchEvent[] {
    if (this.#byType) this.#sortLanes();
    this.taken.fill(null);
    const whole = this.count <= limit && this.#fullTypes === 0;
    return whole ? this.#takeAll(agedAt) : this.#choose(limit, agedAt);
  }

  /** Everything leaves: no choice to make, only the order. */
  #takeAll(agedAt: number): BatchEvent[] {
    const lowHead = this.#oldestLow();
    if (lowHead !== null && lowHead.time <= agedAt) return this.#choose(this.count, agedAt);
    const normals = this.depth(NORMAL);
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

  #choose(limit: number, agedAt: number): BatchEvent[] {
    const cut = this.count > limit;
    const number = ++this.#batchNumber;
    const batch: BatchEvent[] = [];
    const low: BatchEvent[] = [];
    const cursor = this.#byType ? new TypeCursor(this.#listed) : new ArrivalCursor(this.#lanes);
    while (batch.length + low.length < limit) {
      const high = cursor.high();
      const normal = high ?? cursor.normal(agedAt);
      const lowsTurn = normal === null || (cut && this.#normalSinceLow >= normalPerLow);
      const lowOne = high === null && lowsTurn ? cursor.low(agedAt) : null;
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
    const { entry, priority } = event;
    event.stage = LEFT;
    const oldest = this.taken[priority];
    if (oldest === null || event.tick.time < oldest.time) this.taken[priority] = event.tick;
    (this.#byType ? entry.lanes[priority]! : this.#lanes[priority]).shift();
    this.#gone(event);
  }

  #oldestLow(): BatchEvent | null {
    return this.#byType ? (this.#listed[LOW][0]?.head ?? null) : this.#lanes[LOW].head;
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
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      const lanes = this.#listed[priority].filter((lane) => {
        lane.listed = lane.head !== null;
        return lane.listed;
      });
      lanes.sort((a, b) => a.head!.seq - b.head!.seq);
      this.#listed[priority] = lanes;
    }
  }
}

/** Shows which event of each class would be chosen next. */
interface Cursor {
  high(): BatchEvent | null;
  /** The next event that counts as NORMAL. */
  normal(agedAt: number): BatchEvent | null;
  /** The next LOW event that still counts as LOW. */
  low(agedAt: number): BatchEvent | null;
}

const aged = (event: BatchEvent, agedAt: number) => event.time <= agedAt;

class ArrivalCursor implements Cursor {
  readonly #lanes: readonly [Lane, Lane, Lane];

  constructor(lanes: readonly [Lane, Lane, Lane]) {
    this.#lanes = lanes;
  }

  high(): BatchEvent | null {
    return this.#lanes[HIGH].head;
  }

  normal(agedAt: number): BatchEvent | null {
    const normal = this.#lanes[NORMAL].head;
    const low = this.#lanes[LOW].head;
    if (low === null || !aged(low, agedAt)) return normal;
    return normal === null || low.seq < normal.seq ? low : normal;
  }

  low(agedAt: number): BatchEvent | null {
    const low = this.#lanes[LOW].head;
    return low === null || aged(low, agedAt) ? null : low;
  }
}

/** Walks lanes that are sorted by their oldest event; a lane is taken whole before the next one starts. */
class TypeCursor implements Cursor {
  readonly #listed: readonly [Lane[], Lane[], Lane[]];
  readonly #at: [number, number, number] = [0, 0, 0];
  #agedAt = 0;
  /** The lane that NORMAL events are being taken from. */
  #group: Lane | null = null;
  #lowGroup: Lane | null = null;
  /** The next of the LOW lanes that had no aged event; and those that lost theirs, the one with the oldest event first. */
  #lowAt = -1;
  readonly #replaced: Lane[] = [];

  constructor(listed: readonly [Lane[], Lane[], Lane[]]) {
    this.#listed = listed;
  }

  high(): BatchEvent | null {
    return this.#first(HIGH)?.head ?? null;
  }

  normal(agedAt: number): BatchEvent | null {
    if (this.#lowAt < 0) {
      // LOW lanes are sorted by their oldest event: those with an aged one come first.
      const young = this.#listed[LOW].findIndex(({ head }) => head !== null && !aged(head, agedAt));
      this.#lowAt = young < 0 ? this.#listed[LOW].length : young;
    }
    const group = this.#group;
    const head = group?.head ?? null;
    if (head !== null && (group!.priority === NORMAL || aged(head, agedAt))) return head;
    // What is left in a LOW lane counts as LOW from here on, and its lane is placed anew.
    if (head !== null) insert(this.#replaced, group!);
    const normal = this.#first(NORMAL);
    // LOW lanes are sorted by their oldest event: those with an aged one come first.
    const low = this.#firstAged(agedAt);
    if (low === null) this.#group = normal;
    else this.#group = normal === null || low.head!.seq < normal.head!.seq ? low : normal;
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

  #first(priority: PriorityClass): Lane | null {
    const lanes = this.#listed[priority];
    let i = this.#at[priority];
    while (i < lanes.length && lanes[i]!.head === null) i++;
    this.#at[priority] = i;
    return lanes[i] ?? null;
  }

  #firstAged(agedAt: number): Lane | null {
    this.#agedAt = agedAt;
    const lanes = this.#listed[LOW];
    let i = this.#at[LOW];
    while (i < lanes.length && !this.#hasAged(lanes[i]!)) i++;
    this.#at[LOW] = i;
    return lanes[i] ?? null;
  }

  #hasAged(lane: Lane): boolean {
    return lane.head !== null && aged(lane.head, this.#agedAt);
  }
}

/** Puts a lane into lanes that are sorted by their oldest event. */
function insert(lanes: Lane[], lane: Lane): void {
  let at = lanes.length;
  while (at > 0 && lanes[at - 1]!.head!.seq > lane.head!.seq) at--;
  lanes.splice(at, 0, lane);
}
