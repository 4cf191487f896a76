import type { PriorityClass } from '../intake/priority.js';
import type { BatchEvent } from './event.js';

/** A first-in-first-out list of queued events: one for each class, or for each class of each type (order `type`). */
export class Lane {
  readonly priority: PriorityClass;
  head: BatchEvent | null = null;
  tail: BatchEvent | null = null;
  /** Order `type`: whether the lane stands in its class's list of lanes with events. */
  listed = false;

  constructor(priority: PriorityClass) {
    this.priority = priority;
  }

  append(event: BatchEvent): void {
    const { tail } = this;
    event.lane = this;
    event.prev = tail;
    if (tail === null) this.head = event;
    else tail.next = event;
    this.tail = event;
  }

  remove(event: BatchEvent): void {
    const { next, prev } = event;
    if (prev === null) this.head = next;
    else prev.next = next;
    if (next === null) this.tail = prev;
    else next.prev = prev;
    event.next = null;
    event.prev = null;
    event.lane = null;
  }
}
