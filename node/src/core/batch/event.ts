/**
 * An event in the queue, and the lists it is linked into. The links are fields of the event itself, so that joining,
 * leaving and cancelling are O(1) and allocate nothing.
 */
import type { PriorityClass } from '../intake/priority.js';
import type { Lane } from './lane.js';
import type { TypeEntry } from './type-entry.js';

/** Where an event is in its life: in the queue, where it can be cancelled; */
export const QUEUED = 0;
/** left in a batch: handed to its handlers, or about to be; */
export const LEFT = 1;
/** or left without a handler and kept for one that comes later. */
export const RETAINED = 2;
export type Stage = typeof QUEUED | typeof LEFT | typeof RETAINED;

export class BatchEvent<Data = unknown> {
  /** The type's entry in the queue's map. */
  entry: TypeEntry;
  data: Data;
  priority: PriorityClass;
  /** Size as far as it is known; counts towards bounds in bytes. */
  bytes: number;
  /** Time of the push in ms, read once per loop turn. */
  time: number;
  /** Arrival number: orders events of different lanes. */
  seq: number;
  stage: Stage = QUEUED;
  /** The async context of the push, when one is in use. */
  context: object | null = null;
  /** The lane the event waits in, and its neighbours there. */
  lane: Lane | null = null;
  next: BatchEvent | null = null;
  prev: BatchEvent | null = null;
  /** Neighbours in the list of the type's queued events. */
  typeNext: BatchEvent | null = null;
  typePrev: BatchEvent | null = null;

  constructor(
    entry: TypeEntry,
    data: Data,
    priority: PriorityClass,
    bytes: number,
    time: number,
    seq: number,
  ) {
    this.entry = entry;
    this.data = data;
    this.priority = priority;
    this.bytes = bytes;
    this.time = time;
    this.seq = seq;
  }

  get type(): unknown {
    return this.entry.type;
  }
}
