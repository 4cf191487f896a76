/**
 * Chunks that one slow destination has not taken yet: a first-in-first-out lane for each class, bounded in bytes by its owner.
 * HIGH leaves first, and a chunk ages as an event does: after each `maxDeferral` it counts as one class higher, merged by
 * arrival. Drops take the oldest chunk of a class.
 */

import { HIGH, LOW, NORMAL, type PriorityClass } from '@millrace/base/priority';
import { earlier, isAged } from '../engine/queue.js';

/** Something with a class and a size that waits to be written. */
export interface Chunk {
  readonly priority: PriorityClass;
  readonly data: Uint8Array;
  /** Arrival number. */
  readonly seq: number;
  /** Time of the push. */
  readonly time: number;
}

/** Aging of chunks: a clock, and the wait in ms after which a chunk counts as one class higher. */
export interface Aging {
  now(): number;
  maxDeferral(): number;
}

export class Backlog<C extends Chunk> {
  /** Per class: the chunks, and how many of them at the front have gone already. */
  readonly #lanes: [(C | null)[], (C | null)[], (C | null)[]] = [[], [], []];
  readonly #gone: [number, number, number] = [0, 0, 0];
  readonly #aging: Aging;
  bytes = 0;

  constructor(aging: Aging) {
    this.#aging = aging;
  }

  add(chunk: C): void {
    this.#lanes[chunk.priority].push(chunk);
    this.bytes += chunk.data.length;
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
      taken.push(this.#shift(next.priority)!);
    }
    return taken;
  }

  /** The chunk whose turn it is. Once no chunk counts as HIGH, an aged LOW one is older than every NORMAL one. */
  #next(agedAt: number, agedTwiceAt: number): C | null {
    const [normal, low] = [this.#head(NORMAL), this.#head(LOW)];
    let first = this.#head(HIGH);
    if (isAged(normal, agedAt)) first = earlier(first, normal);
    if (isAged(low, agedTwiceAt)) first = earlier(first, low);
    return first ?? (isAged(low, agedAt) ? low : (normal ?? low));
  }

  #head(priority: PriorityClass): C | null {
    return this.#lanes[priority][this.#gone[priority]] ?? null;
  }

  /** Drops the oldest chunk of a class; null when the class has none. */
  dropOldest(priority: PriorityClass): C | null {
    return this.#shift(priority);
  }

  #shift(priority: PriorityClass): C | null {
    const lane = this.#lanes[priority];
    const at = this.#gone[priority];
    const chunk = lane[at];
    if (chunk === undefined || chunk === null) return null;
    // Its bytes are to be freed now, not when the lane is tidied.
    lane[at] = null;
    this.bytes -= chunk.data.length;
    // Moving the rest at every step would cost O(n): they are moved when half of the lane has gone.
    if (at + 1 > lane.length / 2) {
      lane.splice(0, at + 1);
      this.#gone[priority] = 0;
    } else {
      this.#gone[priority] = at + 1;
    }
    return chunk;
  }
}
