/**
 * The rule by which pools and clients of durable tasks starve no priority. The highest one goes first, but one turn in four belongs to tasks that
 * have aged: that have waited `agingMs` for each priority from the highest waiting one down to their own. With more turns a backlog of old tasks
 * would be the highest priority there is. An aged task goes only before tasks that came later.
 */
import { HIGH, LOW, NORMAL, type PriorityClass } from './priority.js';

const agedEvery = 4;

export class Aging {
  readonly #agingMs: number;
  /** Tasks of the highest priority that were taken since an aged one was. */
  #sinceAged = agedEvery;

  constructor(agingMs: number) {
    this.#agingMs = agingMs;
  }

  /** Priority of the next task; null if none waits. `oldestMs`: when the oldest task of a priority came, Infinity if none waits. */
  next(nowMs: number, oldestMs: (priority: PriorityClass) => number): PriorityClass | null {
    let first: PriorityClass | null = null;
    let aged: PriorityClass | null = null;
    let before = Number.POSITIVE_INFINITY;
    for (const priority of [HIGH, NORMAL, LOW] as const) {
      const createdMs = oldestMs(priority);
      if (createdMs >= before) continue;
      if (first === null) first = priority;
      else if (nowMs - createdMs < this.#agingMs * (priority - first)) continue;
      else aged = priority;
      before = createdMs;
    }
    return aged !== null && this.#sinceAged >= agedEvery - 1 ? aged : first;
  }

  /** Counts tasks that were taken. */
  took(count: number, isHighest: boolean): void {
    this.#sinceAged = isHighest ? this.#sinceAged + count : 0;
  }
}
