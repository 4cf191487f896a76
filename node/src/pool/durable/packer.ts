/** Tasks that are not sent yet, and how many go into one message. */
import type { Call } from './call.js';
import { isWaiting, Lane } from './lane.js';

/** The most work in a message, in ms, so that a pack does not keep one worker busy while others have nothing. */
const packMs = 5;
const packBytes = 64 * 1024;
/** How many functions' times are kept. */
const maxNames = 1000;
/** As in a pool: a call that has waited this long for each higher priority gets one message in so many, so that none starves. */
const agingMs = 1000;
const agedEvery = 4;

export class Packer {
  readonly #lanes = [new Lane(), new Lane(), new Lane()] as const;
  readonly #maxBatch: number;
  /** Messages since one of an aged call, while an aged call waits. */
  #sinceAged = 0;
  /** Mean times of functions in ms, as workers tell them. */
  readonly #times = new Map<string, number>();

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  add(call: Call): void {
    this.#lanes[call.priority]!.add(call);
  }

  /** Those that wait, by priority. */
  get sizes(): [number, number, number] {
    const [high, normal, low] = this.#lanes;
    return [high.size, normal.size, low.size];
  }

  get isEmpty(): boolean {
    return this.#lanes.every((lane) => lane.isEmpty);
  }

  meanMs(name: string): number | null {
    return this.#times.get(name) ?? null;
  }

  /** A worker has told how long its functions run. */
  learn(times: unknown): void {
    for (const [name, ms] of Object.entries((times ?? {}) as Record<string, number>)) {
      if (!Number.isFinite(ms) || ms < 0) continue;
      const known = this.#times.get(name);
      if (known === undefined && this.#times.size >= maxNames) continue;
      this.#times.set(name, known === undefined ? ms : known + (ms - known) / 4);
    }
  }

  /** The next message, of the highest priority or aged: one task, or several that are short. Null when there is none. */
  next(nowMs: number): Call[] | null {
    const lane = this.#next(nowMs);
    return lane === null ? null : lane.take(this.#count(lane)).filter(isWaiting);
  }

  #next(nowMs: number): Lane | null {
    let first: Lane | null = null;
    let firstPriority = 0;
    let aged: Lane | null = null;
    /** A call goes only before those that came later. */
    let before = Number.POSITIVE_INFINITY;
    for (const [priority, lane] of this.#lanes.entries()) {
      if (lane.isEmpty) continue;
      const { createdMs } = lane.at(0)!;
      if (first === null) {
        first = lane;
        firstPriority = priority;
      } else if (createdMs >= before || nowMs - createdMs < agingMs * (priority - firstPriority)) {
        continue;
      } else {
        aged = lane;
      }
      before = createdMs;
    }
    if (aged === null || ++this.#sinceAged < agedEvery) return first;
    this.#sinceAged = 0;
    return aged;
  }

  /** How many of the first ones go together. */
  #count(lane: Lane): number {
    let ms = 0;
    let bytes = 0;
    let count = 0;
    for (; count < this.#maxBatch; count++) {
      const call = lane.at(count);
      if (call === undefined) break;
      const { hasOwnId, name, record } = call;
      ms += this.#times.get(name) ?? Number.POSITIVE_INFINITY;
      bytes += record.data.length;
      if (count > 0 && (hasOwnId || ms > packMs || bytes > packBytes)) break;
      if (hasOwnId) return 1;
    }
    return count;
  }

  /** Takes out those that have waited for too long. */
  overdue(nowMs: number): Call[] {
    return this.#lanes.flatMap((lane) => {
      let count = 0;
      while ((lane.at(count)?.deadlineMs ?? Number.POSITIVE_INFINITY) <= nowMs) count++;
      return lane.take(count).filter(isWaiting);
    });
  }

  takeAll(): Call[] {
    return this.#lanes.flatMap((lane) => lane.take(Number.POSITIVE_INFINITY)).filter(isWaiting);
  }
}
