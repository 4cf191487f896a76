/** Results on their way to clients: those of a turn together, sent again until the client has confirmed them. */
import type { Arrival, Link } from '../../broker/link.js';
import { encodeBatch, split, type WireRecord } from '../../broker/wire.js';
import {
  clearInterval,
  clearTimeout,
  performance,
  setInterval,
  setTimeout,
} from '../../core/timers.cjs';
import { atTurnEnd, onceAt } from '../../core/turn.cjs';
import type { TaskNames } from './names.js';
import { headerRoom } from './publisher.js';

/** What becomes of a result. */
interface Fate {
  /** Its client is not there at the moment; may be called more than once. */
  away(): void;
  /** The client has it, or has been away for too long. */
  end(): void;
}

interface Result {
  readonly record: WireRecord;
  readonly fate: Fate;
}

interface Parcel {
  readonly number: number;
  readonly client: string;
  readonly results: readonly Result[];
  readonly payload: Buffer;
  /** Since when its client has been asked, while the broker was there. */
  bornMs: number;
  sentMs: number;
  tries: number;
  /** It was sent for the last time. */
  isLast: boolean;
}

/** After this a client that does not confirm is asked again; the time grows each time. */
const againMs = 250;
const mostMs = 4000;
/** Results that clients have not confirmed; beyond it the oldest are given up. */
const maxBytes = 64 * 1024 * 1024;

export class Answers {
  readonly #link: Link;
  readonly #names: TaskNames;
  readonly #timeoutMs: number;
  readonly #inbox: string;
  readonly #unsubscribe: () => void;
  readonly #turn = new Map<string, Result[]>();
  readonly #parcels = new Map<number, Parcel>();
  #bytes = 0;
  #next = 0;
  #timer: NodeJS.Timeout | null = null;
  #idle: (() => void) | null = null;
  #isClosed = false;
  /** Results that clients have confirmed, and those whose client was not there. */
  confirmed = 0;
  givenUp = 0;

  /** A client that is away for longer than `timeoutMs` is gone. */
  constructor(link: Link, names: TaskNames, timeoutMs: number) {
    this.#link = link;
    this.#names = names;
    this.#timeoutMs = timeoutMs;
    this.#inbox = `${link.subject('inbox', link.node)}.confirmed`;
    this.#unsubscribe = link.subscribe(`${this.#inbox}.*`, (_, arrival) => this.#answered(arrival));
    link.on('up', this.#up);
  }

  /** The task's message is not acknowledged before its end: if this worker ends first, another one runs it for its client. */
  send(client: string, record: WireRecord, fate: Fate): void {
    if (this.#isClosed) return;
    this.#flushSoon();
    const results = this.#turn.get(client);
    if (results === undefined) this.#turn.set(client, [{ record, fate }]);
    else results.push({ record, fate });
  }

  /** Results that have not been confirmed; those that are left at a close are for other workers. */
  get pending(): number {
    let pending = 0;
    for (const { results } of this.#parcels.values()) pending += results.length;
    for (const results of this.#turn.values()) pending += results.length;
    return pending;
  }

  /** Resolves when all have been confirmed or given up, or after `ms`. */
  drained(ms: number): Promise<void> {
    if (this.#turn.size === 0 && this.#parcels.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#turn.clear();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#unsubscribe();
    this.#link.off('up', this.#up);
  }

  readonly #flushSoon = onceAt(atTurnEnd, () => this.#flush());

  #flush(): void {
    for (const [client, results] of this.#turn) {
      const bySize = split(
        results.map(({ record }) => record),
        this.#link.maxPayload - headerRoom,
      );
      let from = 0;
      for (const records of bySize) {
        this.#open(client, results.slice(from, from + records.length), records);
        from += records.length;
      }
    }
    this.#turn.clear();
  }

  #open(client: string, results: Result[], records: readonly WireRecord[]): void {
    const number = this.#next++;
    const payload = encodeBatch(this.#link.node, number, records);
    const nowMs = performance.now();
    const times = { bornMs: nowMs, sentMs: nowMs, tries: 0, isLast: false };
    const parcel = { number, client, results, payload, ...times };
    this.#parcels.set(number, parcel);
    this.#bytes += payload.length;
    this.#write(parcel, nowMs);
    this.#timer ??= setInterval(() => this.#sweep(), againMs);
    for (const oldest of this.#parcels.values()) {
      if (this.#bytes <= maxBytes || oldest === parcel) break;
      this.#giveUp(oldest);
    }
  }

  #write(parcel: Parcel, nowMs: number): void {
    const reply = `${this.#inbox}.${parcel.number}`;
    try {
      const subject = this.#names.results(parcel.client);
      if (!this.#link.publish(subject, parcel.payload, { reply })) return;
    } catch {
      // The broker has come back with a lower limit: the result is given up when its time is over.
      return;
    }
    parcel.sentMs = nowMs;
    parcel.tries++;
  }

  #answered({ subject, headers }: Arrival): void {
    const parcel = this.#parcels.get(Number(subject.slice(this.#inbox.length + 1)));
    if (parcel === undefined) return;
    if (headers?.code === 503) {
      for (const { fate } of parcel.results) fate.away();
      return;
    }
    this.confirmed += parcel.results.length;
    this.#remove(parcel);
  }

  #sweep(): void {
    if (this.#link.state !== 'up') return;
    const nowMs = performance.now();
    for (const parcel of this.#parcels.values()) {
      if (nowMs - parcel.bornMs > this.#timeoutMs) this.#tryLast(parcel, nowMs);
      else if (nowMs - parcel.sentMs >= Math.min(mostMs, againMs * 2 ** parcel.tries)) {
        this.#write(parcel, nowMs);
      }
    }
  }

  readonly #up = () => {
    const nowMs = performance.now();
    for (const parcel of this.#parcels.values()) {
      parcel.bornMs = nowMs;
      parcel.isLast = false;
      this.#write(parcel, nowMs);
    }
  };

  /** The client may have come back since it was asked; a sweep later it is gone. */
  #tryLast(parcel: Parcel, nowMs: number): void {
    if (parcel.isLast) {
      this.#giveUp(parcel);
      return;
    }
    parcel.isLast = true;
    this.#write(parcel, nowMs);
  }

  #giveUp(parcel: Parcel): void {
    this.givenUp += parcel.results.length;
    this.#remove(parcel);
  }

  #remove(parcel: Parcel): void {
    this.#parcels.delete(parcel.number);
    this.#bytes -= parcel.payload.length;
    for (const { fate } of parcel.results) fate.end();
    if (this.#parcels.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#turn.size === 0) this.#idle?.();
  }
}
