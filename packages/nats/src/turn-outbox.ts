/**
 * The turn outbox: everything that a turn has for a subject leaves together, in one NATS message, or in several where the
 * broker takes no more at once. Subjects leave in the order of their first records. A message that cannot leave, because
 * the broker is away or behind, is counted and uses up its number (`gaps.ts`): nothing is kept for later.
 *
 * An outbox empties itself `soon`, after the promise jobs that are queued now, where a batch of the engine has gathered already what
 * is to leave together; otherwise at the end of the loop turn. With a hold it asks a queue, which gets an event for each record: the
 * end of its batch is that of the turn, so a turn is held as long as it pays here, and no longer than for `fullTurn` records, or for as
 * many bytes as a message can have. Only `add()`, `skip()` and `takeBack()` change what is gathered, and only `flush()` sends.
 *
 * With `ordered` the receivers can restore the order over several subjects (`Arrivals` of socket-io), which the
 * gathering loses where subjects take turns: each record gets its position in the turn, and where subjects did take turns,
 * each message begins with a list of the subjects that follow it.
 */
import { atTurnEnd, nextMicrotask, onceAt } from '@millrace/base/turn';
import { BatchEmitter, type PushOptions, type QueueStats } from 'millrace';
import { Numbers, type Unit } from './gaps.js';
import type { Link } from './link.js';
import type { TurnHold } from './options.js';
import { encodeBatch, split, type WireRecord } from './wire.js';

/** Subjects of an ordered turn before it is divided, so that the list stays short. */
const maxSubjects = 128;
/** Bytes of an ordered message beside its records. */
export const orderBytes = 1024;
/** Flags of the record that lists what follows. */
export const following = 1;

/** Records that end a hold. */
const fullTurn = 1024;
/** No bound: what is gathered is not in the queue. */
const maxQueue = 100_000_000;
const urgently: PushOptions = { priority: 'high' };
const normally: PushOptions = { priority: 'normal' };

interface TurnOutboxOptions {
  readonly soon?: boolean;
  readonly hold?: TurnHold;
  readonly ordered?: boolean;
  readonly unit: Unit;
  /** Told of each batch, whether it has left. */
  readonly onSent?: (records: number, isSent: boolean) => void;
}

interface Message {
  readonly subject: string;
  readonly records: readonly WireRecord[];
}

export class TurnOutbox {
  readonly #link: Link;
  readonly #options: TurnOutboxOptions;
  readonly #numbers = new Numbers();
  #gathered = new Map<string, WireRecord[]>();
  /** Bytes added since the last flush. */
  #bytes = 0;
  readonly #skipped = new Set<string>();
  /** Asks for a flush: of an urgent record at the end of the turn, whatever is held. */
  readonly #flushLater: (isUrgent?: boolean) => void;
  /** Decides how long turns are held; null: not at all. */
  readonly #queue: BatchEmitter | null = null;
  #lastSubject: string | null = null;
  #isInterleaved = false;
  #position = 0;
  #turn = 0;

  constructor(link: Link, options: TurnOutboxOptions) {
    this.#link = link;
    this.#options = options;
    const { soon, hold } = options;
    const flush = () => this.flush();
    if (hold === undefined || hold.maxDelay === 0) {
      this.#flushLater = onceAt(soon ? nextMicrotask : atTurnEnd, flush);
      return;
    }
    const queue = new BatchEmitter({ ...hold, threshold: fullTurn, maxQueue, context: 'off' });
    queue.onBatch('turn', flush);
    this.#queue = queue;
    this.#flushLater = (isUrgent) => void queue.push('turn', [], isUrgent ? urgently : normally);
  }

  /** The policy's estimates and its last decision; null without a hold. */
  get policy(): QueueStats['policy'] | null {
    return this.#queue?.stats().policy ?? null;
  }

  /** Number of the turn that is being gathered: as long as it is the same, what has been added has not left. */
  get turn(): number {
    return this.#turn;
  }

  /**
   * Takes a record, which leaves with its turn; an urgent one ends a hold. Until then its owner may give it other bytes, with the same
   * position. O(1).
   */
  add(subject: string, record: WireRecord, isUrgent = false): void {
    this.#bytes += record.data.length;
    this.#flushLater(isUrgent || this.#bytes >= this.#link.maxPayload);
    let records = this.#gathered.get(subject);
    if (this.#options.ordered) {
      if (records === undefined && this.#gathered.size === maxSubjects) this.flush();
      this.#isInterleaved ||= records !== undefined && this.#lastSubject !== subject;
      this.#lastSubject = subject;
      (record.data as Buffer).writeUInt32BE(this.#position++, 0);
    }
    if (records === undefined) {
      records = [];
      this.#gathered.set(subject, records);
    }
    records.push(record);
  }

  /** False if it has left already. O(1) for the last one. */
  takeBack(subject: string, record: WireRecord): boolean {
    const records = this.#gathered.get(subject);
    const at = records?.lastIndexOf(record) ?? -1;
    if (at < 0) return false;
    records!.splice(at, 1);
    if (records!.length === 0) this.#gathered.delete(subject);
    return true;
  }

  /** Something for this subject cannot even be added: others see that they missed it, as soon as they hear more. */
  skip(subject: string): void {
    this.#flushLater();
    this.#skipped.add(subject);
  }

  /** Sends what is gathered; nothing is added any more. */
  close(): void {
    this.flush();
    this.#queue?.close();
  }

  /** Sends what is gathered, now. */
  flush(): void {
    for (const subject of this.#skipped) this.#numbers.take(subject, 1);
    this.#skipped.clear();
    this.#bytes = 0;
    const gathered = this.#gathered;
    if (gathered.size === 0) return;
    this.#gathered = new Map();
    const most = this.#link.maxPayload - (this.#options.ordered ? orderBytes : 0);
    const messages: Message[] = [];
    for (const [subject, all] of gathered) {
      for (const records of split(all, most)) messages.push({ subject, records });
    }
    const isInterleaved = this.#isInterleaved;
    this.#isInterleaved = false;
    this.#lastSubject = null;
    this.#position = 0;
    const turn = this.#turn++ >>> 0;
    for (const [index, message] of messages.entries()) {
      this.#send(message, isInterleaved ? list(turn, messages.slice(index + 1)) : null);
    }
  }

  #send({ subject, records }: Message, first: WireRecord | null): void {
    const { unit, onSent } = this.#options;
    const number = this.#numbers.take(subject, unit === 'record' ? records.length : 1);
    const all = first === null ? records : [first, ...records];
    const isSent = this.#publish(subject, number, all);
    onSent?.(records.length, isSent);
  }

  #publish(subject: string, number: number, records: readonly WireRecord[]): boolean {
    try {
      return this.#link.publish(subject, encodeBatch(this.#link.node, number, records));
    } catch {
      // Another broker has answered since the records were measured, with a lower limit.
      return false;
    }
  }
}

/** The turn, and the short names of what follows. */
function list(turn: number, messages: readonly Message[]): WireRecord {
  const names = new Set(messages.map(({ subject }) => subject));
  const data = Buffer.allocUnsafe(4 + 4 * names.size);
  let at = data.writeUInt32BE(turn);
  for (const name of names) at = data.writeUInt32BE(shortName(name), at);
  return { flags: following, data };
}

/** A short name for a subject: FNV-1a. If two have the same, a receiver only waits in vain. */
export function shortName(subject: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < subject.length; at++) {
    hash = Math.imul(hash ^ subject.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

export const positionOf = ({ data }: WireRecord): number =>
  ((data[0]! << 24) | (data[1]! << 16) | (data[2]! << 8) | data[3]!) >>> 0;
