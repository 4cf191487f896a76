/**
 * The hybrid queue-map: lanes keep the order, a map finds a type's events and settings. Push, removal and look-up by
 * type are O(1); taking a batch is O(1) an event, plus, with order `type`, the lanes that have events.
 *
 * It knows no policy and no clock: the caller says how many events a batch can hold and what time it is.
 */
import { HIGH, LOW, NORMAL, type PriorityClass } from '../intake/priority.js';
import type { Order } from '../options.js';
import { type BatchEvent, LEFT } from './event.js';
import { Lane } from './lane.js';
import { TypeEntry } from './type-entry.js';

/** When a limit cuts a batch, this many NORMAL events are chosen for one LOW one. */
const normalPerLow = 8;

export class QueueMap {
  readonly #order: Order;
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

  /** Events queued, their bytes, and events by class. */
  count = 0;
  bytes = 0;
  readonly depth: [number, number, number] = [0, 0, 0];

  /** `types` is shared with the queue-map that this one replaces when the order changes. */
  constructor(order: Order, types: Map<unknown, TypeEntry> = new Map()) {
    this.#order = order;
    this.#types = types;
  }

  /** The same types and settings in another order; only for an empty queue. */
  reordered(order: Order): QueueMap {
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
    let entry = this.#types.get(type);
    if (entry === undefined) {
      entry = new TypeEntry(type);
      this.#types.set(type, entry);
    }
    return entry;
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
    if (this.#types.get(type)?.count === 0) this.#types.delete(type);
  }

  setMaxBatch(entry: TypeEntry, maxBatch: number): void {
    if (entry.count >= entry.maxBatch) this.#fullTypes--;
    entry.maxBatch = maxBatch;
    if (entry.count >= entry.maxBatch) this.#fullTypes++;
  }

  push(event: BatchEvent): void {
    const { entry, priority } = event;
    if (this.#order === 'arrival') this.#lanes[priority].append(event);
    else this.#typeLane(entry, priority).append(event);
    entry.append(event);
    if (entry.count === entry.maxBatch) this.#fullTypes++;
    this.count++;
    this.depth[priority]++;
    this.bytes += event.bytes;
  }

  remove(event: BatchEvent): void {
    const lane = event.lane!;
    const { entry } = event;
    // A lane that loses its oldest event may have to give way to another.
    if (event.prev === null) this.#unsorted = true;
    lane.remove(event);
    if (entry.count === entry.maxBatch) this.#fullTypes--;
    entry.remove(event);
    this.count--;
    this.depth[event.priority]--;
    this.bytes -= event.bytes;
  }

  /** The queued event that arrived first, or null. */
  oldest(): BatchEvent | null {
    if (this.#order === 'type') this.#sortLanes();
    let oldest: BatchEvent | null = null;
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      const lane = this.#order === 'type' ? this.#listed[priority][0] : this.#lanes[priority];
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
    if (this.#order === 'type') this.#sortLanes();
    const whole = this.count <= limit && this.#fullTypes === 0;
    const batch = whole ? this.#takeAll(agedAt) : this.#choose(limit, agedAt);
    for (const event of batch) event.stage = LEFT;
    return batch;
  }

  /** Everything leaves: no choice to make, only the order. */
  #takeAll(agedAt: number): BatchEvent[] {
    const lowHead = this.#oldestLow();
    if (lowHead !== null && lowHead.time <= agedAt) return this.#choose(this.count, agedAt);
    const batch: BatchEvent[] = [];
    const { depth } = this;
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      if (depth[priority] === 0) continue;
      if (this.#order === 'arrival') drain(this.#lanes[priority], batch);
      else for (const lane of this.#listed[priority]) drain(lane, batch);
    }
    if (depth[LOW] > 0) this.#normalSinceLow = 0;
    else this.#normalSinceLow = Math.min(normalPerLow, this.#normalSinceLow + depth[NORMAL]);
    for (const lanes of this.#listed) {
      for (const lane of lanes) lane.listed = false;
      lanes.length = 0;
    }
    this.#unsorted = false;
    this.count = 0;
    this.bytes = 0;
    depth[HIGH] = 0;
    depth[NORMAL] = 0;
    depth[LOW] = 0;
    return batch;
  }

  #choose(limit: number, agedAt: number): BatchEvent[] {
    const cut = this.count > limit;
    const number = ++this.#batchNumber;
    const batch: BatchEvent[] = [];
    const low: BatchEvent[] = [];
    const cursor =
      this.#order === 'type' ? new TypeCursor(this.#listed) : new ArrivalCursor(this.#lanes);
    while (batch.length + low.length < limit) {
      const high = cursor.high();
      const normal = high ?? cursor.normal(agedAt);
      const lowOne = high ?? cursor.low(agedAt);
      const lowsTurn = normal === null || (cut && this.#normalSinceLow >= normalPerLow);
      const event = high ?? (lowOne !== null && lowsTurn ? lowOne : normal);
      if (event === null) break;
      const { entry } = event;
      if (entry.chosenIn !== number) {
        entry.chosenIn = number;
        entry.chosen = 0;
      }
      if (entry.chosen === entry.maxBatch) break;
      entry.chosen++;
      this.remove(event);
      if (high !== null || event === normal) batch.push(event);
      else low.push(event);
      if (high === null) {
        if (event === normal)
          this.#normalSinceLow = Math.min(normalPerLow, this.#normalSinceLow + 1);
        else this.#normalSinceLow = 0;
      }
    }
    // Order `type`: a lane that was cut may now be younger than others, an emptied one has to go.
    this.#unsorted = true;
    return low.length === 0 ? batch : batch.concat(low);
  }

  #oldestLow(): BatchEvent | null {
    if (this.depth[LOW] === 0) return null;
    return this.#order === 'type' ? (this.#listed[LOW][0]?.head ?? null) : this.#lanes[LOW].head;
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

/** Moves a whole lane to the end of a batch. */
function drain(lane: Lane, batch: BatchEvent[]): void {
  let event = lane.head;
  lane.head = null;
  lane.tail = null;
  while (event !== null) {
    const { next, entry } = event;
    batch.push(event);
    event.lane = null;
    event.next = null;
    event.prev = null;
    event.typeNext = null;
    event.typePrev = null;
    // The type's list is emptied as a whole: everything queued is leaving.
    entry.head = null;
    entry.tail = null;
    entry.count = 0;
    event = next;
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

  constructor(listed: readonly [Lane[], Lane[], Lane[]]) {
    this.#listed = listed;
  }

  high(): BatchEvent | null {
    return this.#first(HIGH)?.head ?? null;
  }

  normal(agedAt: number): BatchEvent | null {
    const group = this.#group;
    if (group !== null && group.head !== null) {
      if (group.priority === NORMAL || aged(group.head, agedAt)) return group.head;
    }
    const normal = this.#first(NORMAL);
    // LOW lanes are sorted by their oldest event: those with an aged one come first.
    const low = this.#firstAged(agedAt);
    if (low === null) this.#group = normal;
    else this.#group = normal === null || low.head!.seq < normal.head!.seq ? low : normal;
    return this.#group?.head ?? null;
  }

  low(agedAt: number): BatchEvent | null {
    const group = this.#lowGroup;
    if (group !== null && group.head !== null) return group.head;
    this.#lowGroup = null;
    for (const lane of this.#listed[LOW]) {
      const { head } = lane;
      if (head === null || aged(head, agedAt)) continue;
      if (this.#lowGroup === null || head.seq < this.#lowGroup.head!.seq) this.#lowGroup = lane;
    }
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
