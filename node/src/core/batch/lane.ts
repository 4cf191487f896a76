import type { PriorityClass } from '../intake/priority.js';
import { type BatchEvent, CANCELLED } from './event.js';

/** Cancelled and taken events are moved out of the way when there are this many, and more of them than others. */
const worthMoving = 64;

/**
 * A first-in-first-out list of queued events: one for each class, or for each class of each type (order `type`). An array,
 * and not linked events: those cost twice as much here, in allocation and in a write barrier for each link, and a lane that
 * leaves as a whole leaves as it is. A cancelled event stays where it is until the lane gets there.
 */
export class Lane {
  readonly priority: PriorityClass;
  #events: (BatchEvent | null)[] = [];
  /** Index of the oldest event; null stands before it. */
  #first = 0;
  /** Index after the youngest event. The array may be longer: it is made as long as the last one got. */
  #end = 0;
  /** Events that wait: those in the array that have been neither taken nor cancelled. */
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

  /** Takes the oldest event out. */
  shift(): void {
    this.#events[this.#first] = null;
    this.count--;
    this.#tidy();
  }

  /** One of its events, which is not the oldest or is, has been marked as cancelled. */
  cancelled(): void {
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
  }

  #clear(capacity: number): void {
    this.#events = new Array(capacity);
    this.#first = 0;
    this.#end = 0;
  }
}

function waits(event: BatchEvent | null): boolean {
  return event !== null && event.stage !== CANCELLED;
}
