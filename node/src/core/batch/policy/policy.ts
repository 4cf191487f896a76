/** What a policy is given and what it answers. A policy is a pure function: no clock, no queue, no loop. */
import type { QueueOptions } from '../../options.js';

/** What the engine knows about the loop and the destinations of the open batch. */
export interface Signals {
  /** Busy share of the loop, 0 to 1. */
  utilization: number;
  /** Events per ms: the highest rate among the queued types. */
  rate: number;
  /** Extra events a batch got from being held, on average over the holds on record. */
  gain: number;
  /** Holds on record, 0 to 16. */
  holds: number;
}

/** What a policy remembers between two questions. */
export interface PolicyState {
  /** Until this time (ms) holding is switched off. */
  readonly offUntil: number;
  /** How long holding is switched off the next time, in ms. */
  readonly backoff: number;
}

export interface Decision {
  /** How long a batch may be held from the push of its oldest event, in ms; 0: not at all. */
  readonly hold: number;
  /** Events a batch can hold. */
  readonly limit: number;
  readonly state: PolicyState;
}

export type Policy = (
  signals: Signals,
  config: Readonly<QueueOptions>,
  state: PolicyState,
  now: number,
) => Decision;

export const initialState: PolicyState = Object.freeze({ offUntil: 0, backoff: 1000 });
