/**
 * The interface between `Rooms` and what makes the rooms of several processes one, such as `natsRooms()` of
 * millrace/nats/rooms. `Rooms` knows no network: it says which rooms have members here and which messages leave; the other
 * side delivers to others, and hands over what they send. A message goes through `admit()` before it is queued, and then
 * through either `send()`, when its batch leaves, or `takeBack()`, when the queue has refused it.
 */
import type { PriorityClass } from '../core/priority.js';
import type { Presences } from './presence.js';

/** A message on its way to the other processes. */
export interface Message {
  readonly payload: Buffer;
  readonly binary: boolean;
  readonly priority: PriorityClass;
  /** Set by `admit()`, for its own use. Null: the message is for this process alone. */
  route: object | null;
}

/** What became of a message of another process: `later`, the queue is full now; `never`, it is larger than the queue. */
export type Receipt = 'taken' | 'later' | 'never';

/** The rooms of this process, as the other side sees them. */
export interface RoomsHere {
  /** Random name of this process among the others: 12 characters of base64url. */
  readonly node: string;
  readonly presences: Presences;
  /** Queues a message of another process for the members here. */
  receive(room: string, data: Buffer, binary: boolean, priority: PriorityClass): Receipt;
}

/** Counters of what is exchanged with other processes: at least these, which metrics show. */
export interface AcrossStats {
  /** Messages of other processes that never came. */
  missed: number;
  /** Messages that are not well-formed, and were ignored. */
  malformed: number;
  /** What other processes said beyond what is kept. */
  ignored: number;
}

/** A connection of rooms to the others. */
export interface RoomsLink<Stats extends AcrossStats = AcrossStats> {
  /** Resolves when what others publish reaches the rooms that have members now. */
  ready(): Promise<void>;
  /** Resolves when all that was published to durable rooms until now is stored. */
  acknowledged(): Promise<void>;
  /** Throws for a room that cannot be opened. */
  check(room: string): void;
  /** The room has its first member here. */
  open(room: string): void;
  /** Its last one has left. */
  leave(room: string): void;
  /** A message is about to be queued. Throws when it cannot leave; then nothing has changed. */
  admit(room: string, message: Message): void;
  takeBack(message: Message): void;
  send(message: Message): void;
  /** Sends what is gathered, and ends. Idempotent. */
  close(): void;
  /** Resolves when all has left, after `close()`. */
  closed(): Promise<void>;
  stats(): Stats;
}

/** Makes rooms one with those of other processes: the option `across` of `Rooms`. */
export interface Across<Stats extends AcrossStats = AcrossStats> {
  /** Called once by each `Rooms`. */
  connect(here: RoomsHere): RoomsLink<Stats>;
}
