/**
 * Stores messages in a stream, each exactly once as far as its id reaches. A message is either waiting or sent. At most 1024
 * messages and 8 MiB are sent and not acknowledged. One that is not acknowledged within 5 s, or whose connection was lost,
 * is sent again under the same id, so that the broker stores it once within the stream's `duplicateWindow`. It ends with the
 * broker's answer, at its deadline, or with `close()`: nothing else rejects it, the broker may come back.
 */

import { MillraceError } from '@millrace/base/errors';
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import { type Client, failure, loadClient } from '../connect.js';
import type { Arrival, Link } from '../link.js';
import { bufferOf } from '../wire.js';

/** Answer of the broker for a message that it has stored. */
export interface Stored {
  readonly sequence: number;
  /** True if it had one of the same id already. */
  readonly isDuplicate: boolean;
  /** Number of times that it was sent. */
  readonly tries: number;
}

interface Entry {
  readonly number: number;
  readonly subject: string;
  readonly payload: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
  /** Time of the last send; null while it has to be sent. */
  sentMs: number | null;
  tries: number;
  resolve(stored: Stored): void;
  reject(error: unknown): void;
}

/** Sent and not acknowledged at most. */
const maxMessages = 1024;
const maxBytes = 8 * 1024 * 1024;
/** Messages from which on it is better to wait for an answer, and to send more together. */
const busyMessages = 64;
const sweepMs = 250;
/** Time in ms after which an unacknowledged message is sent again. */
const againMs = 5000;
/** Bytes that a message may have beside its payload. */
export const headerRoom = 4096;

export class Publisher {
  readonly #link: Link;
  readonly #timeoutMs: number;
  readonly #inbox: string;
  readonly #unsubscribe: () => void;
  readonly #waiting: Entry[] = [];
  readonly #sent = new Map<number, Entry>();
  #sentBytes = 0;
  #client: Client | null = null;
  #next = 0;
  #timer: NodeJS.Timeout | null = null;
  #failure: MillraceError | null = null;
  #isClosed = false;
  /** Messages that were sent again, and those that the broker has stored. */
  resent = 0;
  stored = 0;
  /** Called when there is room for further messages. */
  onRoom: () => void = () => {};
  /** Called when no stream stores the subject: it is missing, or not created yet. */
  onMissing: () => void = () => {};

  /** `timeoutMs`: when the promise of a message rejects. */
  constructor(link: Link, timeoutMs: number) {
    this.#link = link;
    this.#timeoutMs = timeoutMs;
    this.#inbox = `${link.subject('inbox', link.node)}.stored`;
    this.#unsubscribe = link.subscribe(`${this.#inbox}.*`, (payload, arrival) =>
      this.#acknowledged(payload, arrival),
    );
    link.on('up', this.#up).on('down', this.#down);
  }

  /** Begins to send: the stream is there. */
  async open(): Promise<void> {
    this.#client = await loadClient();
    this.#send();
  }

  get isBusy(): boolean {
    return this.#client === null || this.#sent.size >= busyMessages || this.#waiting.length > 0;
  }

  /**
   * Resolves when it is stored. Rejects with MILLRACE_E_OVERLOADED when the stream is full, with MILLRACE_E_TOO_LARGE when
   * it does not fit into a message, and with MILLRACE_E_BROKER when it has taken too long: then it is unknown whether it is
   * stored.
   */
  store(
    subject: string,
    payload: Uint8Array,
    headers: Record<string, string>,
    deadlineMs = performance.now() + this.#timeoutMs,
  ): Promise<Stored> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw closed();
      const number = this.#next++;
      const entry = { number, subject, payload, headers, deadlineMs, resolve, reject };
      this.#waiting.push({ ...entry, sentMs: null, tries: 0 });
      this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
      this.#send();
    });
  }

  /** Rejects the messages that are not stored. */
  close(error: () => Error = closed): void {
    this.#isClosed = true;
    for (const entry of [...this.#sent.values(), ...this.#waiting]) entry.reject(error());
    this.#waiting.length = 0;
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#stopIfIdle();
    this.#unsubscribe();
    this.#link.off('up', this.#up).off('down', this.#down);
  }

  #stopIfIdle(): void {
    if (this.#timer === null || this.#sent.size + this.#waiting.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  readonly #up = () => {
    this.#failure = null;
    for (const entry of this.#sent.values()) entry.sentMs = null;
    this.#sendAgain();
    this.#send();
  };

  readonly #down = (error: MillraceError) => {
    this.#failure = error;
  };

  #sendAgain(): void {
    if (this.#client === null) return;
    for (const entry of this.#sent.values()) {
      if (entry.sentMs !== null) continue;
      if (!this.#write(entry)) return;
      if (entry.sentMs === null) this.#forget(entry);
      else this.resent++;
    }
  }

  #send(): void {
    if (this.#client === null || this.#link.state !== 'up') return;
    let index = 0;
    for (; index < this.#waiting.length; index++) {
      if (this.#sent.size >= maxMessages || this.#sentBytes >= maxBytes) break;
      const entry = this.#waiting[index]!;
      if (!this.#write(entry)) break;
      if (entry.sentMs === null) continue;
      this.#sent.set(entry.number, entry);
      this.#sentBytes += entry.payload.length;
    }
    if (index > 0) this.#waiting.splice(0, index);
  }

  /** False when it cannot leave now. One that never can, as it is above the broker's limit, is rejected; then it has no `sentMs`. */
  #write(entry: Entry): boolean {
    const { subject, payload, number } = entry;
    const headers = this.#client!.headers();
    for (const [name, value] of Object.entries(entry.headers)) headers.set(name, value);
    const reply = `${this.#inbox}.${number}`;
    try {
      if (!this.#link.publish(subject, payload, { reply, headers })) return false;
    } catch (error) {
      entry.reject(error);
      return true;
    }
    entry.sentMs = performance.now();
    entry.tries++;
    return true;
  }

  #forget(entry: Entry): void {
    this.#sent.delete(entry.number);
    this.#sentBytes -= entry.payload.length;
  }

  #acknowledged(payload: Uint8Array, { subject, headers }: Arrival): void {
    const entry = this.#sent.get(Number(subject.slice(this.#inbox.length + 1)));
    if (entry === undefined) return;
    if (headers?.code === 503) {
      // It is sent again by the sweep.
      entry.sentMs = performance.now() - againMs + 2 * sweepMs;
      this.onMissing();
      return;
    }
    this.#forget(entry);
    const { seq, duplicate = false, error } = answerOf(payload);
    if (error === undefined) {
      this.stored++;
      entry.resolve({ sequence: seq, isDuplicate: duplicate, tries: entry.tries });
    } else entry.reject(refused(error.description));
    this.#send();
    this.#stopIfIdle();
    if (!this.isBusy) this.onRoom();
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const entry of this.#sent.values()) {
      if (nowMs >= entry.deadlineMs) {
        this.#forget(entry);
        entry.reject(this.#late('it may have been stored'));
      } else if (entry.sentMs !== null && nowMs - entry.sentMs >= againMs) entry.sentMs = null;
    }
    let index = 0;
    while (index < this.#waiting.length && nowMs >= this.#waiting[index]!.deadlineMs) index++;
    for (const entry of this.#waiting.splice(0, index)) entry.reject(this.#late('it was not sent'));
    this.#sendAgain();
    this.#send();
    this.#stopIfIdle();
    if (!this.isBusy) this.onRoom();
  }

  #late(what: string): MillraceError {
    const why =
      this.#failure?.message ?? `the broker at ${this.#link.address} has not acknowledged it`;
    return failure(`not stored within ${this.#timeoutMs} ms, ${what}: ${why}`, this.#failure);
  }
}

const closed = (): MillraceError =>
  new MillraceError('MILLRACE_E_CLOSED', 'it was closed before the task was stored');

/** The broker's answer: the message's number in the stream, and whether one of its id was there; or why it was refused. */
interface Answer {
  readonly seq: number;
  readonly duplicate?: boolean;
  readonly error?: { description: string };
}

function answerOf(payload: Uint8Array): Answer {
  try {
    return JSON.parse(bufferOf(payload).toString());
  } catch {
    return { seq: 0, error: { description: 'an answer that is not valid JSON' } };
  }
}

/** The stream is full: "maximum messages exceeded", "maximum bytes exceeded", and those per subject. */
const isFull = (text: string) => /maximum (messages|bytes)/.test(text);

/** MILLRACE_E_OVERLOADED if the stream is full, else MILLRACE_E_BROKER. */
function refused(description: string): MillraceError {
  if (!isFull(description)) return failure(`the broker refuses to store it: ${description}`);
  return new MillraceError(
    'MILLRACE_E_OVERLOADED',
    `the stream is full (${description}); start more workers, send fewer tasks, or raise maxBytes or maxMessages of \`stream\``,
  );
}
