/**
 * The turn outbox: everything that a turn has for a subject leaves together, in one NATS message, or in several where the
 * broker takes no more at once. Subjects leave in the order of their first records. A message that cannot leave, because
 * the broker is away or behind, is counted and uses up its number (`gaps.ts`): nothing is kept for later.
 *
 * An outbox empties itself `soon`, after the promise jobs that are queued now, where a batch of the engine has gathered already what
 * is to leave together; otherwise at the end of the loop turn, or when the hold ends (`turn-hold.ts`): what this calls a turn then takes
 * several of the loop's, but no more bytes than a message, or a part of what may be under way. Only `add()`, `replace()`, `skip()` and
 * `takeBack()` change what is gathered, and only `flush()` sends.
 *
 * With `ordered` the receivers can restore the order over several subjects (`Arrivals` of socket-io), which the
 * gathering loses where subjects take turns: each record gets its position in the turn, and where subjects did take turns,
 * each message begins with a list of the subjects that follow it.
 */
import { atTurnEnd, nextMicrotask, onceAt } from '@millrace/base/turn';
import { Numbers, type Unit } from './gaps.js';
import type { Link } from './link.js';
import type { TurnHold } from './turn-hold.js';
import { encodeBatch, split, type WireRecord } from './wire.js';

/** Subjects of an ordered turn before it is divided, so that the list stays short. */
const maxSubjects = 128;
/** Bytes of an ordered message beside its records. */
export const orderBytes = 1024;
/** Flags of the record that lists what follows. */
export const following = 1;

interface TurnOutboxOptions {
  readonly soon?: boolean;
  readonly hold?: TurnHold | null;
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
  readonly #leaveLater: () => void;
  #lastSubject: string | null = null;
  #isInterleaved = false;
  #position = 0;
  #turn = 0;

  constructor(link: Link, options: TurnOutboxOptions) {
    this.#link = link;
    this.#options = options;
    this.#leaveLater = onceAt(options.soon ? nextMicrotask : atTurnEnd, () => this.#leave());
  }

  /** Number of the turn that is being gathered: as long as it is the same, what has been added has not left. */
  get turn(): number {
    return this.#turn;
  }

  /** Takes a record, which leaves with its turn; an urgent one ends a hold. O(1). */
  add(subject: string, record: WireRecord, isUrgent = false): void {
    const { hold, ordered } = this.#options;
    const isFull = ordered && this.#gathered.size === maxSubjects && !this.#gathered.has(subject);
    if (isFull) this.#leave();
    this.#bytes += record.data.length;
    if (hold) hold.added(this, isUrgent || this.#bytes >= this.#most);
    else this.#leaveLater();
    let records = this.#gathered.get(subject);
    if (ordered) {
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

  /** Gives other bytes to a record that has not left, with the position of those that it has. O(1). */
  replace(record: { data: Uint8Array }, data: Uint8Array): void {
    if (this.#options.ordered) data.set(record.data.subarray(0, 4));
    this.#bytes += data.length - record.data.length;
    record.data = data;
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
    this.#leaveLater();
    this.#skipped.add(subject);
  }

  /** Bytes that end a hold: more would not fit into a message, or be refused by the link. */
  get #most(): number {
    const { maxPayload, maxPending } = this.#link;
    return Math.min(maxPayload, maxPending / 4);
  }

  /** Flushes by the hold, if there is one, so that it learns what that costs. What was only skipped is none of its business. */
  #leave(): void {
    this.#options.hold?.flush();
    this.flush();
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
