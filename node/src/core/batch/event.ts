import type { PriorityClass } from '../intake/priority.js';
import type { TypeEntry } from './type-entry.js';

/** A time in ms, shared by the events of a loop turn: a number of its own in each would be an allocation more. */
export interface Tick {
  readonly time: number;
}

/** An object with a place in the order of arrival, and the time of its push. */
interface Arrived {
  readonly seq: number;
  readonly time: number;
}

/** Whether it was pushed at this time or before. */
export function isAged(one: Arrived | null, agedAt: number): boolean {
  return one !== null && one.time <= agedAt;
}

/** The one of two that arrived first; each of them may be missing. */
export function earlier<A extends Arrived>(a: A | null, b: A | null): A | null {
  return a === null || (b !== null && b.seq < a.seq) ? b : a;
}

/** Where an event is in its life: waiting in the queue; left in a batch, or taken out; taken back before it left. */
export const QUEUED = 0;
export const LEFT = 1;
export const CANCELLED = 2;
export type Stage = typeof QUEUED | typeof LEFT | typeof CANCELLED;

/** An event on its way. */
export class BatchEvent<Data = unknown> {
  /** The type's entry in the queue's map. */
  readonly entry: TypeEntry;
  readonly data: Data;
  readonly priority: PriorityClass;
  /** Size as far as it is known; counts towards bounds in bytes. */
  readonly bytes: number;
  /** Time of the push. */
  readonly tick: Tick;
  /** Arrival number: orders events of different lanes. */
  readonly seq: number;
  /** The async context of the push, when one is in use. */
  readonly context: object | null;
  stage: Stage = QUEUED;

  constructor(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass,
    bytes: number,
    tick: Tick,
    seq: number,
    context: object | null,
  ) {
    this.entry = entry;
    this.data = data;
    this.priority = priority;
    this.bytes = bytes;
    this.tick = tick;
    this.seq = seq;
    this.context = context;
  }

  get type(): unknown {
    return this.entry.type;
  }

  get time(): number {
    return this.tick.time;
  }
}
