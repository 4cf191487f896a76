/**
 * The interface between `Rooms` and what makes the rooms of several processes one. `natsRooms()` of @millrace/nats/rooms is
 * built on it alone, and so can be one for another broker. `Rooms` knows no network: it says which rooms have members here
 * and which messages leave; the other side delivers to others, and hands over what they send. A message goes through
 * `admit()` before it is queued, and then through either `send()`, when its batch leaves, or `takeBack()`, when the queue has
 * refused it or a newer one of its key has superseded it there. Members of this process get it from `Rooms` itself. What other processes send is not trusted by either side.
 */
import type { PriorityClass } from '@millrace/base/priority';
import type { PresenceList } from './presence.js';

/** Fields that an event stream sends with a message; WebSockets have none. Text without line breaks or U+0000. */
export interface StreamFields {
  readonly event: string | undefined;
  readonly id: string | undefined;
}

/** A message on its way to the other processes. */
export interface Message {
  /** Bytes of the message. Read-only; valid as long as it is referenced. */
  readonly payload: Buffer;
  /** True for a binary message; false: the payload is text in UTF-8. */
  readonly binary: boolean;
  /** Priority class. 0: HIGH, 1: NORMAL, 2: LOW. */
  readonly priority: PriorityClass;
  /** Key: a later message of the room with the same key supersedes this one; undefined: none. */
  readonly key: unknown;
  /** Fields that event streams get with it; null: none. */
  readonly stream: StreamFields | null;
  /**
   * Route that `admit()` sets, for use by the link. While it is null the message is for this process alone, and `send()` does
   * not get it.
   */
  route: object | null;
}

/**
 * Outcome of a message of another process: `later`, the queue is full now; `never`, it is larger than the queue; `malformed`,
 * a field for event streams is no single line.
 */
export type Receipt = 'taken' | 'later' | 'never' | 'malformed';

/** Rooms of this process, as other processes see them. */
export interface RoomsHere {
  /** Random name of this process among the others: 12 characters of base64url. */
  readonly node: string;
  readonly presences: PresenceList;
  /**
   * Queues a message of another process for the members here. Text has to be valid UTF-8: browsers end a connection for
   * anything else. `stream`: fields for event streams, default null.
   */
  receive(
    room: string,
    data: Buffer,
    binary: boolean,
    priority: PriorityClass,
    key: unknown,
    stream?: StreamFields | null,
  ): Receipt;
}

/** Counters of messages from other processes: at least these, which metrics show. */
export interface AcrossStats {
  /** Messages of other processes that were lost. */
  missed: number;
  /** Messages that are not well-formed, and were ignored. */
  malformed: number;
  /** Entries of other processes beyond the limits. */
  ignored: number;
}

/** Connection of rooms to other processes. Only the methods that say so may throw. */
export interface RoomsLink<Stats extends AcrossStats = AcrossStats> {
  /** Resolves when messages of others reach the rooms that have members now. Rejects when the others cannot be reached. */
  ready(): Promise<void>;
  /** Resolves when all messages published to durable rooms until now are stored; at once if there are none. */
  acknowledged(): Promise<void>;
  /** Validates a room: throws if it cannot be opened. Called for each `join()`, before anything changes. */
  check(room: string): void;
  /** Opens a room when it gets its first member here. */
  open(room: string): void;
  /** Leaves a room when its last member here has left. */
  leave(room: string): void;
  /** Admits a message before it is queued. Throws when it cannot leave; then nothing has changed. Called for each `publish()`. */
  admit(room: string, message: Message): void;
  /** Takes a message back that does not leave: the queue refused it, or a newer one of its key superseded it. */
  takeBack(message: Message): void;
  /** Sends a message: called once for each admitted one, in the order of the queue. The link merges the messages of a turn. */
  send(message: Message): void;
  /** Sends the pending messages, and ends. Idempotent. */
  close(): void;
  /** Resolves when all has left, after `close()`. */
  closed(): Promise<void>;
  stats(): Stats;
}

/** Joins rooms with those of other processes: the option `across` of `Rooms`. */
export interface Across<Stats extends AcrossStats = AcrossStats> {
  /** Called once by each `Rooms`. */
  connect(here: RoomsHere): RoomsLink<Stats>;
}
