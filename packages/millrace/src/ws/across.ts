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
  /** Not to be changed. It stays valid for as long as it is referred to. */
  readonly payload: Buffer;
  /** False: the payload is text in UTF-8. */
  readonly binary: boolean;
  /** 0: HIGH, 1: NORMAL, 2: LOW. */
  readonly priority: PriorityClass;
  /** A later message of the room with the same key supersedes it; undefined: none does. */
  readonly key: unknown;
  /** Fields that event streams get with it; null: none. */
  readonly stream: StreamFields | null;
  /** Set by `admit()`, for use by the link. As long as it is null the message is for this process alone, and `send()` does not get it. */
  route: object | null;
}

/** The fate of a message of another process: `later`, the queue is full now; `never`, it is larger than the queue; `malformed`, a field for event streams is no single line. */
export type Receipt = 'taken' | 'later' | 'never' | 'malformed';

/** The rooms of this process, as the other side sees them. */
export interface RoomsHere {
  /** Random name of this process among the others: 12 characters of base64url. */
  readonly node: string;
  readonly presences: PresenceList;
  /** Queues a message of another process for the members here. Text has to be valid UTF-8: browsers end a connection for anything else. `stream`: what event streams get with it, default null. */
  receive(
    room: string,
    data: Buffer,
    binary: boolean,
    priority: PriorityClass,
    key: unknown,
    stream?: StreamFields | null,
  ): Receipt;
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

/** A connection of rooms to the others. Only the methods that say so may throw. */
export interface RoomsLink<Stats extends AcrossStats = AcrossStats> {
  /** Resolves when what others publish reaches the rooms that have members now. Rejects when the others cannot be reached. */
  ready(): Promise<void>;
  /** Resolves when all that was published to durable rooms until now is stored; at once if there are none. */
  acknowledged(): Promise<void>;
  /** Throws for a room that cannot be opened. Called for each `join()`, before anything changes. */
  check(room: string): void;
  /** The room has its first member here. */
  open(room: string): void;
  /** Its last one has left. */
  leave(room: string): void;
  /** A message is about to be queued. Throws when it cannot leave; then nothing has changed. Called for each `publish()`. */
  admit(room: string, message: Message): void;
  /** The queue has refused the message, or a newer one of its key has superseded it: it does not leave. */
  takeBack(message: Message): void;
  /** The message leaves now: called once for each that was admitted, in the order of the queue. To gather those of a turn is up to the link. */
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
