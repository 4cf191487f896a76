/**
 * Chunks that one slow destination has not taken yet: a first-in-first-out lane for each class, bounded in bytes by its owner.
 * HIGH leaves first, and a chunk ages as an event does: after each `maxDeferral` it counts as one class higher, merged by
 * arrival. Drops take the oldest chunk of a class.
 *
 * A chunk with a key supersedes the one of its topic and key that waits here, as an event does in a queue: it takes that one's place
 * in the lane, its arrival and its time, or has its own place if the classes differ. So there are at most as many chunks of a topic
 * as it has keys, however long the destination takes nothing.
 */

import { HIGH, LOW, NORMAL, type PriorityClass } from '@millrace/base/priority';
import { earlier, isAged } from '../engine/queue.js';

/** Something with a class and a size that waits to be written. */
export interface Chunk {
  readonly priority: PriorityClass;
  readonly data: Buffer;
  /** Arrival number. */
  readonly seq: number;
  /** Time of the push. */
  readonly time: number;
  /** Of two with the same topic and key the newer one supersedes the older; undefined: none does. */
  readonly key: unknown;
  readonly topic: unknown;
}

/** Aging of chunks: a clock, and the wait in ms after which a chunk counts as one class higher. */
export interface Aging {
  now(): number;
  maxDeferral(): number;
}

/** A place in a lane: that of its first chunk, whichever chunk has it now. */
interface Place<C extends Chunk> {
  /** Null: the chunk has left, or one of another class has superseded it. */
  chunk: C | null;
  readonly seq: number;
  readonly time: number;
}

/** Empty places are moved out of the way when there are this many, and more of them than others. */
const worthMoving = 64;

class Lane<C extends Chunk> {
  #places: Place<C>[] = [];
  /** Index of the oldest chunk's place; those before it are empty. */
  #first = 0;
  #count = 0;

  get head(): Place<C> | null {
    return this.#places[this.#first] ?? null;
  }

  append(chunk: C): Place<C> {
    const place = { chunk, seq: chunk.seq, time: chunk.time };
    this.#places.push(place);
    this.#count++;
    return place;
  }

  /** Empties a place, so that the bytes of its chunk can be freed. */
  empty(place: Place<C>): void {
    place.chunk = null;
    this.#count--;
    const places = this.#places;
    while (this.#first < places.length && places[this.#first]!.chunk === null) this.#first++;
    const idle = places.length - this.#count;
    if (this.#count > 0 && (idle < worthMoving || idle < this.#count)) return;
    this.#places = places.filter(({ chunk }) => chunk !== null);
    this.#first = 0;
  }
}

export class Backlog<C extends Chunk> {
  readonly #lanes: readonly [Lane<C>, Lane<C>, Lane<C>] = [new Lane(), new Lane(), new Lane()];
  /** The places of the chunks with a key, by topic and key. */
  readonly #topics = new Map<unknown, Map<unknown, Place<C>>>();
  readonly #aging: Aging;
  bytes = 0;

  constructor(aging: Aging) {
    this.#aging = aging;
  }

  /** Adds a chunk. True if it has superseded one of its key. */
  add(chunk: C): boolean {
    const older = chunk.key === undefined ? undefined : this.#placeOf(chunk);
    this.bytes += chunk.data.length;
    if (older !== undefined) {
      const { priority, data } = older.chunk!;
      this.bytes -= data.length;
      if (priority === chunk.priority) {
        older.chunk = chunk;
        return true;
      }
      this.#lanes[priority].empty(older);
    }
    const place = this.#lanes[chunk.priority].append(chunk);
    if (chunk.key !== undefined) this.#keep(chunk, place);
    return older !== undefined;
  }

  #placeOf({ topic, key }: C): Place<C> | undefined {
    return this.#topics.get(topic)?.get(key);
  }

  #keep({ topic, key }: C, place: Place<C>): void {
    const keys = this.#topics.get(topic);
    if (keys === undefined) this.#topics.set(topic, new Map([[key, place]]));
    else keys.set(key, place);
  }

  /** Takes chunks, those that count as HIGH first, until they have this many bytes or nothing is left. */
  take(bytes: number): C[] {
    const taken: C[] = [];
    const left = Math.max(0, this.bytes - bytes);
    const now = this.#aging.now();
    const maxDeferral = this.#aging.maxDeferral();
    while (this.bytes > left || taken.length === 0) {
      const next = this.#next(now - maxDeferral, now - 2 * maxDeferral);
      if (next === null) break;
      taken.push(this.#shift(next));
    }
    return taken;
  }

  /** The chunk whose turn it is. Once no chunk counts as HIGH, an aged LOW one is older than every NORMAL one. */
  #next(agedAt: number, agedTwiceAt: number): Place<C> | null {
    const [normal, low] = [this.#lanes[NORMAL].head, this.#lanes[LOW].head];
    let first = this.#lanes[HIGH].head;
    if (isAged(normal, agedAt)) first = earlier(first, normal);
    if (isAged(low, agedTwiceAt)) first = earlier(first, low);
    return first ?? (isAged(low, agedAt) ? low : (normal ?? low));
  }

  /** Drops the oldest chunk of a class; null when the class has none. */
  dropOldest(priority: PriorityClass): C | null {
    const oldest = this.#lanes[priority].head;
    return oldest === null ? null : this.#shift(oldest);
  }

  #shift(place: Place<C>): C {
    const chunk = place.chunk!;
    this.bytes -= chunk.data.length;
    this.#lanes[chunk.priority].empty(place);
    const keys = chunk.key === undefined ? undefined : this.#topics.get(chunk.topic);
    if (keys?.delete(chunk.key) && keys.size === 0) this.#topics.delete(chunk.topic);
    return chunk;
  }
}
