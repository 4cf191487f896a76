/**
 * Tasks of a client that are not sent yet, and how many of them go into one message. Short tasks share one, up to 5 ms of
 * work by the times that workers tell, so that a pack does not keep one worker busy while others have nothing. A task whose
 * time is not known, or that has an id of its user, is a message of its own. The highest priority goes first, but for tasks
 * that have aged (aging.ts).
 */
import { Aging } from '@millrace/base/aging';
import type { PriorityClass } from '@millrace/base/priority';
import type { Call } from './call.js';

/** The most work and data of a message. */
const packMs = 5;
const packBytes = 64 * 1024;
/** How many functions' times are kept. */
const maxNames = 1000;
/** As a pool's default. */
const agingMs = 1000;

export class Packer {
  readonly #fifos = [new Fifo(), new Fifo(), new Fifo()] as const;
  readonly #aging = new Aging(agingMs);
  readonly #maxBatch: number;
  /** Mean times of functions in ms, as workers tell them. */
  readonly #times = new Map<string, number>();

  constructor(maxBatch: number) {
    this.#maxBatch = maxBatch;
  }

  add(call: Call): void {
    this.#fifos[call.priority].push(call);
  }

  /** Waiting tasks by priority. */
  get sizes(): [number, number, number] {
    const [high, normal, low] = this.#fifos;
    return [high.size, normal.size, low.size];
  }

  get isEmpty(): boolean {
    return this.#fifos.every((fifo) => fifo.isEmpty);
  }

  meanMs(name: string): number | null {
    return this.#times.get(name) ?? null;
  }

  /** Takes in mean times of functions from a worker. */
  learn(times: unknown): void {
    for (const [name, ms] of Object.entries((times ?? {}) as Record<string, number>)) {
      if (!Number.isFinite(ms) || ms < 0) continue;
      const known = this.#times.get(name);
      if (known === undefined && this.#times.size >= maxNames) continue;
      this.#times.set(name, known === undefined ? ms : known + (ms - known) / 4);
    }
  }

  /** Takes out the tasks of the next message, of the highest priority or aged; null when there are none. */
  next(nowMs: number): Call[] | null {
    const priority = this.#aging.next(nowMs, this.#oldestMs);
    if (priority === null) return null;
    this.#aging.took(1, this.#fifos.findIndex((fifo) => !fifo.isEmpty) === priority);
    const fifo = this.#fifos[priority];
    return fifo.take(this.#count(fifo)).filter(isWaiting);
  }

  readonly #oldestMs = (priority: PriorityClass): number => {
    const fifo = this.#fifos[priority];
    return fifo.isEmpty ? Number.POSITIVE_INFINITY : fifo.at(0)!.createdMs;
  };

  /** How many of the first ones go together. */
  #count(fifo: Fifo): number {
    let ms = 0;
    let bytes = 0;
    let count = 0;
    for (; count < this.#maxBatch; count++) {
      const call = fifo.at(count);
      if (call === undefined) break;
      const { hasOwnId, name, record } = call;
      ms += this.#times.get(name) ?? Number.POSITIVE_INFINITY;
      bytes += record.data.length;
      if (count > 0 && (hasOwnId || ms > packMs || bytes > packBytes)) break;
      if (hasOwnId) return 1;
    }
    return count;
  }

  /** Takes out those whose time to be stored is over. */
  overdue(nowMs: number): Call[] {
    return this.#fifos.flatMap((fifo) => {
      let count = 0;
      while ((fifo.at(count)?.deadlineMs ?? Number.POSITIVE_INFINITY) <= nowMs) count++;
      return fifo.take(count).filter(isWaiting);
    });
  }

  takeAll(): Call[] {
    return this.#fifos.flatMap((fifo) => fifo.take(Number.POSITIVE_INFINITY)).filter(isWaiting);
  }
}

/** The array is cut each time this many calls were taken: not for each one, which would cost the square of their number. */
const cutAfter = 1024;

/** Calls of one priority in their order. Aborted ones stay in it, but never at its head. */
class Fifo {
  #calls: Call[] = [];
  #head = 0;

  push(call: Call): void {
    this.#calls.push(call);
  }

  get isEmpty(): boolean {
    while (this.#head < this.#calls.length && !isWaiting(this.#calls[this.#head]!)) this.#head++;
    return this.#head === this.#calls.length;
  }

  /** Without aborted ones. */
  get size(): number {
    return this.#calls.slice(this.#head).filter(isWaiting).length;
  }

  /** Counted from the head. */
  at(index: number): Call | undefined {
    return this.#calls[this.#head + index];
  }

  take(count: number): Call[] {
    const taken = this.#calls.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head >= cutAfter || this.#head === this.#calls.length) {
      if (this.#head * 2 >= this.#calls.length) {
        this.#calls = this.#calls.slice(this.#head);
        this.#head = 0;
      }
    }
    return taken;
  }
}

const isWaiting = ({ state }: Call): boolean => state === 'waiting';
