/**
 * What one slow destination has not taken yet: a first-in-first-out lane for each class, bounded in bytes by whoever owns
 * it. HIGH leaves first; what is dropped is dropped oldest first.
 */
import { HIGH, LOW, NORMAL, type PriorityClass } from '../intake/priority.js';

/** Something with a class and a size that waits to be written. */
export interface Chunk {
  readonly priority: PriorityClass;
  readonly data: Uint8Array;
}

export class Backlog<C extends Chunk> {
  /** Per class: the chunks, and how many of them at the front have gone already. */
  readonly #lanes: [(C | null)[], (C | null)[], (C | null)[]] = [[], [], []];
  readonly #gone: [number, number, number] = [0, 0, 0];
  bytes = 0;

  add(chunk: C): void {
    this.#lanes[chunk.priority].push(chunk);
    this.bytes += chunk.data.length;
  }

  /** Takes chunks, HIGH first, until they have this many bytes or nothing is left. */
  take(bytes: number): C[] {
    const taken: C[] = [];
    const left = Math.max(0, this.bytes - bytes);
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      while (this.bytes > left || taken.length === 0) {
        const chunk = this.#shift(priority);
        if (chunk === null) break;
        taken.push(chunk);
      }
    }
    return taken;
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
