/**
 * The outbox of the store: messages of durable subjects until the broker has stored them, within a bound of bytes. Each
 * subject has a line of its own. One batch of a line is under way at a time, and what is published meanwhile makes the next
 * one: so the order survives whatever is sent again, and the busier the broker is, the larger the batches are. A batch is
 * sent again, under the same id and number, until the broker answers that it has stored it, whichever attempt that was.
 *
 * A message goes through `reserve()`, and then either `add()` or `release()`; the outbox alone changes the lines.
 */

import { MillraceError } from '@millrace/base/errors';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { nextMicrotask, onceAt } from '@millrace/base/turn';
import type { JetStreamClient } from '../client-types.js';
import { Numbers } from '../gaps.js';
import type { Link } from '../link.js';
import {
  batchHead,
  decodeBatch,
  encodeBatch,
  recordBytes,
  split,
  type WireRecord,
} from '../wire.js';

/** Bytes that a waiting message costs beside its own: an estimate, on the high side. */
const overheadBytes = 256;
/** Bytes of the header of a NATS message with its id. */
export const headerBytes = 128;
const answerMs = 5000;
const leastRetryMs = 100;
const mostRetryMs = 5000;

export class Outbox {
  readonly #link: Link;
  readonly #maxBytes: number;
  readonly #counts: { unsent: number };
  readonly #numbers = new Numbers();
  readonly #lines = new Map<string, Line>();
  /** Lines with something to send that was added since the last flush. */
  readonly #touched = new Set<Line>();
  /** Null while nothing can be stored. */
  #js: JetStreamClient | null = null;
  #batches = 0;
  backlog = 0;
  bytes = 0;
  stored = 0;
  resent = 0;
  /** Called when something could not be stored, before it is tried again. */
  onFailure: () => void = () => {};

  constructor(link: Link, maxBytes: number, counts: { unsent: number }) {
    this.#link = link;
    this.#maxBytes = maxBytes;
    this.#counts = counts;
  }

  /** Makes room for a message that is about to be added. Throws MILLRACE_E_OVERLOADED. */
  reserve(subject: string, bytes: number): void {
    const more = costOf(bytes);
    if (this.bytes + more > this.#maxBytes) {
      throw new MillraceError(
        'MILLRACE_E_OVERLOADED',
        `${this.bytes} bytes of durable rooms wait for the broker to store them, the message has ${bytes}, and maxPending of option 'broker' is ${this.#maxBytes}; publish less, wait for acknowledged(), or raise it`,
      );
    }
    let line = this.#lines.get(subject);
    if (line === undefined) {
      line = new Line(subject);
      this.#lines.set(subject, line);
    }
    line.published++;
    this.bytes += more;
    this.backlog++;
  }

  /** Releases reserved bytes of a message that is not added. */
  release(subject: string, bytes: number): void {
    const line = this.#lines.get(subject)!;
    line.published--;
    this.bytes -= costOf(bytes);
    this.backlog--;
    if (line.isIdle) this.#lines.delete(subject);
  }

  /** Takes a message for which there is room; it leaves after the promise jobs that are queued now. */
  add(subject: string, record: WireRecord): void {
    const line = this.#lines.get(subject)!;
    line.waiting.push(record);
    this.#touched.add(line);
    this.#flushSoon();
  }

  flush(): void {
    for (const line of this.#touched) if (line.underWay === null) this.#next(line);
    this.#touched.clear();
  }

  readonly #flushSoon = onceAt(nextMicrotask, () => this.flush());

  /** The broker is there: what it has not confirmed is sent again. Null: it is not there. */
  use(js: JetStreamClient | null): void {
    const isBack = this.#js === null;
    this.#js = js;
    // While it stays, each line tries again at its own pace.
    if (js === null || !isBack) return;
    for (const line of this.#lines.values()) {
      this.#fit(line);
      if (line.underWay !== null) this.#send(line);
      else this.#next(line);
    }
  }

  /** Resolves when everything that was published until now is stored. */
  async acknowledged(): Promise<void> {
    await Promise.all([...this.#lines.values()].map((line) => line.acknowledged()));
  }

  close(): void {
    this.#js = null;
    const message = `the rooms were closed, and the broker has not stored ${this.backlog} messages of durable rooms`;
    for (const line of this.#lines.values()) {
      line.giveUp(new MillraceError('MILLRACE_E_CLOSED', message));
    }
  }

  #next(line: Line): void {
    // How much the broker takes at once is known when it is there.
    if (this.#js !== null) while (this.#isTooLarge(line.waiting[0])) this.#drop(line);
    if (line.waiting.length === 0) {
      if (line.isIdle) this.#lines.delete(line.subject);
      return;
    }
    if (this.#js === null) return;
    const [records] = split(line.waiting, this.#most);
    line.waiting = line.waiting.slice(records.length);
    const first = this.#numbers.take(line.subject, records.length);
    line.underWay = {
      payload: encodeBatch(this.#link.node, first, records),
      id: `${this.#link.node}.${++this.#batches}`,
      messages: records.length,
      bytes: records.reduce((sum, { data }) => sum + costOf(data.length), 0),
    };
    this.#send(line);
  }

  /** Bytes of a batch that the broker takes. */
  get #most(): number {
    return this.#link.maxPayload - headerBytes;
  }

  #isTooLarge(record: WireRecord | undefined): boolean {
    return record !== undefined && batchHead + recordBytes(record.data.length) > this.#most;
  }

  /** The broker may have come back with a lower limit: then what is under way is divided anew. */
  #fit(line: Line): void {
    const batch = line.underWay;
    if (batch === null || batch.payload.length <= this.#most) return;
    line.underWay = null;
    line.waiting = [...decodeBatch(batch.payload)!.records, ...line.waiting];
  }

  /** A message was let in before the limit was known, and can never be stored. Its number shows others that it is missing. */
  #drop(line: Line): void {
    const { data } = line.waiting.shift()!;
    this.#numbers.take(line.subject, 1);
    this.bytes -= costOf(data.length);
    this.backlog--;
    this.#counts.unsent++;
    line.giveUp(
      new MillraceError(
        'MILLRACE_E_TOO_LARGE',
        `a message of ${data.length} bytes was published before the broker had said that it takes ${this.#link.maxPayload} at once, and is not stored; await ready() before publishing, or raise max_payload of nats-server`,
      ),
    );
    line.done(1);
  }

  #send(line: Line): void {
    const js = this.#js;
    const batch = line.underWay!;
    if (js === null) return;
    if (line.retry !== null) clearTimeout(line.retry);
    line.retry = null;
    const attempt = ++line.attempt;
    if (attempt > 1) this.resent++;
    const options = { msgID: batch.id, timeout: answerMs, retries: 0 };
    js.publish(line.subject, batch.payload, options).then(
      () => {
        // Whichever attempt it was that stored it.
        if (line.underWay !== batch) return;
        line.done(batch.messages);
        this.bytes -= batch.bytes;
        this.backlog -= batch.messages;
        this.stored += batch.messages;
        this.#next(line);
      },
      () => {
        if (line.underWay !== batch || line.attempt !== attempt || this.#js === null) return;
        this.onFailure();
        const wait = Math.min(mostRetryMs, leastRetryMs * 2 ** Math.min(attempt, 16));
        line.retry = setTimeout(() => this.#send(line), wait);
      },
    );
  }
}

const costOf = (bytes: number) => recordBytes(bytes) + overheadBytes;

interface BatchUnderWay {
  readonly payload: Uint8Array;
  /** Id by which the broker recognizes it when it is sent again. */
  readonly id: string;
  readonly messages: number;
  /** Bytes as reserved. */
  readonly bytes: number;
}

interface Waiter {
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The messages of one subject. */
class Line {
  readonly subject: string;
  /** Published and not yet under way. */
  waiting: WireRecord[] = [];
  underWay: BatchUnderWay | null = null;
  /** Of `underWay`; an answer to an earlier one does not count as a failure of this one. */
  attempt = 0;
  retry: NodeJS.Timeout | null = null;
  /** Messages so far. */
  published = 0;
  stored = 0;
  #waiters: Waiter[] = [];

  constructor(subject: string) {
    this.subject = subject;
  }

  get isIdle(): boolean {
    return this.published === this.stored;
  }

  /** Resolves when everything that is published now is stored. */
  acknowledged(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    const upTo = this.published;
    return new Promise((resolve, reject) => this.#waiters.push({ upTo, resolve, reject }));
  }

  /** The batch that is under way has been stored. */
  done(messages: number): void {
    if (this.retry !== null) clearTimeout(this.retry);
    this.retry = null;
    this.underWay = null;
    this.attempt = 0;
    this.stored += messages;
    while (this.#waiters.length > 0 && this.#waiters[0]!.upTo <= this.stored) {
      this.#waiters.shift()!.resolve();
    }
  }

  giveUp(error: Error): void {
    if (this.retry !== null) clearTimeout(this.retry);
    for (const { reject } of this.#waiters.splice(0)) reject(error);
  }
}
