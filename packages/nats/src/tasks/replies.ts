/**
 * Results on their way to clients. Those of a turn for one client leave in one message, which is sent again with growing
 * pauses until the client has confirmed it. The tasks' messages are acknowledged after that: if this worker ends before,
 * another one runs them for the client. A client that has been away for `replyTimeout` while the broker was there is asked a
 * last time, and its results are given up. Unconfirmed results are bounded: beyond 64 MiB the oldest are given up.
 */
import { clearInterval, performance, setInterval, within } from '@millrace/base/timers';
import { atTurnEnd, onceAt } from '@millrace/base/turn';
import type { Arrival, Link } from '../link.js';
import { encodeBatch, split, type WireRecord } from '../wire.js';
import { headerRoom } from './publisher.js';
import type { TaskNames } from './streams.js';

interface Reply {
  readonly record: WireRecord;
  /** Called when its client is absent; may be called more than once. */
  readonly onAway: () => void;
  /** The client has it, or has been away for too long. */
  readonly onEnd: () => void;
}

interface Parcel {
  readonly number: number;
  readonly client: string;
  readonly replies: readonly Reply[];
  readonly payload: Buffer;
  /** Time since which its client has been asked, while the broker was there. */
  bornMs: number;
  sentMs: number;
  tries: number;
  /** True if it was sent for the last time. */
  isLast: boolean;
}

/** Time in ms after which a client that does not confirm is asked again; it doubles each time, up to the second one. */
const againMs = 250;
const maxAgainMs = 4000;
/** Bytes of results that clients have not confirmed. */
const maxBytes = 64 * 1024 * 1024;

export class Replies {
  readonly #link: Link;
  readonly #names: TaskNames;
  readonly #timeoutMs: number;
  readonly #inbox: string;
  readonly #unsubscribe: () => void;
  /** Replies of this turn, by client. */
  readonly #turn = new Map<string, Reply[]>();
  readonly #parcels = new Map<number, Parcel>();
  #bytes = 0;
  #next = 0;
  #timer: NodeJS.Timeout | null = null;
  #whenIdle: (() => void) | null = null;
  #isClosed = false;
  /** Results that clients have confirmed, and those that were given up. */
  confirmed = 0;
  givenUp = 0;

  constructor(link: Link, names: TaskNames, timeoutMs: number) {
    this.#link = link;
    this.#names = names;
    this.#timeoutMs = timeoutMs;
    this.#inbox = `${link.subject('inbox', link.node)}.confirmed`;
    this.#unsubscribe = link.subscribe(`${this.#inbox}.*`, (_, arrival) =>
      this.#confirmed(arrival),
    );
    link.on('up', this.#up);
  }

  send(client: string, reply: Reply): void {
    if (this.#isClosed) return;
    this.#flushSoon();
    const replies = this.#turn.get(client);
    if (replies === undefined) this.#turn.set(client, [reply]);
    else replies.push(reply);
  }

  /** Number of results that have not been confirmed. */
  get pending(): number {
    let pending = 0;
    for (const { replies } of this.#parcels.values()) pending += replies.length;
    for (const replies of this.#turn.values()) pending += replies.length;
    return pending;
  }

  /** Resolves when all have been confirmed or given up, or after `ms`. */
  async drained(ms: number): Promise<void> {
    if (this.#turn.size === 0 && this.#parcels.size === 0) return;
    await within(ms, new Promise<void>((resolve) => (this.#whenIdle = resolve)));
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
    for (const [client, replies] of this.#turn) {
      const bySize = split(
        replies.map(({ record }) => record),
        this.#link.maxPayload - headerRoom,
      );
      let from = 0;
      for (const records of bySize) {
        this.#open(client, replies.slice(from, from + records.length), records);
        from += records.length;
      }
    }
    this.#turn.clear();
  }

  #open(client: string, replies: Reply[], records: readonly WireRecord[]): void {
    const number = this.#next++;
    const payload = encodeBatch(this.#link.node, number, records);
    const nowMs = performance.now();
    const times = { bornMs: nowMs, sentMs: nowMs, tries: 0, isLast: false };
    const parcel = { number, client, replies, payload, ...times };
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

  #confirmed({ subject, headers }: Arrival): void {
    const parcel = this.#parcels.get(Number(subject.slice(this.#inbox.length + 1)));
    if (parcel === undefined) return;
    if (headers?.code === 503) {
      for (const { onAway } of parcel.replies) onAway();
      return;
    }
    this.confirmed += parcel.replies.length;
    this.#remove(parcel);
  }

  #sweep(): void {
    if (this.#link.state !== 'up') return;
    const nowMs = performance.now();
    for (const parcel of this.#parcels.values()) {
      if (nowMs - parcel.bornMs > this.#timeoutMs) this.#tryLast(parcel, nowMs);
      else if (nowMs - parcel.sentMs >= Math.min(maxAgainMs, againMs * 2 ** parcel.tries)) {
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
    this.givenUp += parcel.replies.length;
    this.#remove(parcel);
  }

  #remove(parcel: Parcel): void {
    this.#parcels.delete(parcel.number);
    this.#bytes -= parcel.payload.length;
    for (const { onEnd } of parcel.replies) onEnd();
    if (this.#parcels.size > 0) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#turn.size === 0) this.#whenIdle?.();
  }
}
