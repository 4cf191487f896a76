/** Knows whether memory is too short for another task beside one that runs, and finds out when it no longer is. */
import { clearTimeout, setTimeout } from '../core/timers.cjs';
import type { SchedulerEvents } from './events.js';
import type { Fleet } from './fleet.js';

/** How often memory is looked at while it is short, in ms. */
const throttleMs = 250;

export class Throttle {
  readonly #fleet: Fleet;
  readonly #events: SchedulerEvents;
  readonly #dispatch: () => void;
  /** Memory is short: one task at a time. */
  throttled = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(fleet: Fleet, events: SchedulerEvents, dispatch: () => void) {
    this.#fleet = fleet;
    this.#events = events;
    this.#dispatch = dispatch;
  }

  /** Looks at the memory; whether it is short. */
  look(): boolean {
    const { throttled } = this.#fleet.memory.look();
    if (throttled !== this.throttled) {
      this.throttled = throttled;
      this.#events.allocated('memory');
    }
    if (throttled && this.#timer === null) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        // Even when nothing waits: listeners are told when it is over.
        this.look();
        this.#dispatch();
      }, throttleMs);
      this.#timer.unref();
    }
    return throttled;
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}
