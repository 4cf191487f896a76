/** Durable rooms: what is published is stored by the broker, and read from there by every node, even by one that was away. */
import { failure } from '../../../broker/failure.js';
import type { Link } from '../../../broker/link.js';
import { decodeBatch, type WireRecord } from '../../../broker/wire.js';
import { clearTimeout, setTimeout } from '../../../core/timers.cjs';
import { MillraceError } from '../../../errors.js';
import { Expected } from '../numbers.js';
import type { StreamLimits } from '../options.js';
import type { OnRecord } from '../receiver.js';
import type { Counts, DurableStats } from '../stats.js';
import { Outbox } from './outbox.js';
import { Reader } from './reader.js';
import { ensureStream, type Owner } from './stream.js';

interface Room {
  readonly onRecord: OnRecord;
  readonly expected: Expected;
}

const leastWaitMs = 100;
const mostWaitMs = 5000;
/** How long `close()` waits for the broker. */
const lastMs = 10_000;

export class Durable {
  readonly #link: Link;
  readonly #owner: Owner;
  readonly #limits: Required<StreamLimits>;
  readonly #counts: Counts;
  readonly #outbox: Outbox;
  readonly #reader: Reader;
  readonly #rooms = new Map<string, Room>();
  /** The set-up that is under way. */
  #setUp: Promise<void> | null = null;
  /** It was asked for again meanwhile. */
  #isStale = false;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** What the last set-up failed with. */
  #failure: MillraceError | null = null;
  /** Why nothing can be stored although the broker is there, and waiting does not help. */
  #refusal: MillraceError | null = null;

  /** What waits to be stored is bounded by the `maxPending` of the link. */
  constructor(link: Link, owner: Owner, limits: Required<StreamLimits>, counts: Counts) {
    this.#link = link;
    this.#owner = owner;
    this.#limits = limits;
    this.#counts = counts;
    this.#outbox = new Outbox(link, link.maxPending, counts);
    this.#reader = new Reader(link, owner, (subject, payload) => this.#take(subject, payload));
    this.#outbox.onFailure = this.#again;
    this.#reader.onLost = this.#again;
    link.on('up', this.#again);
    link.on('down', () => {
      this.#outbox.use(null);
      this.#reader.stop();
    });
  }

  open(subject: string, onRecord: OnRecord): void {
    this.#rooms.set(subject, { onRecord, expected: new Expected() });
  }

  leave(subject: string): void {
    this.#rooms.delete(subject);
  }

  forget(sender: string): void {
    for (const { expected } of this.#rooms.values()) expected.forget(sender);
  }

  /** Throws MILLRACE_E_OVERLOADED, and MILLRACE_E_BROKER where nothing can be stored. */
  reserve(subject: string, bytes: number): void {
    if (this.#refusal !== null) throw this.#refusal;
    this.#outbox.reserve(subject, bytes);
  }

  release(subject: string, bytes: number): void {
    this.#outbox.release(subject, bytes);
  }

  add(subject: string, record: WireRecord): void {
    this.#outbox.add(subject, record);
  }

  acknowledged(): Promise<void> {
    return this.#outbox.acknowledged();
  }

  /** Resolves when messages can be stored and are read. Rejects with MILLRACE_E_BROKER. The link is up. */
  async ready(): Promise<void> {
    // One that was asked for during another follows it.
    while (this.#setUp !== null) await this.#setUp;
    if (this.#failure !== null) throw this.#failure;
  }

  /** Waits for what is not stored yet, for 10 s at most, and ends. Rejects with MILLRACE_E_BROKER when some of it was not. */
  async close(): Promise<void> {
    this.#outbox.flush();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, lastMs);
    });
    await Promise.race([this.#outbox.acknowledged(), late]);
    clearTimeout(timer);
    const { backlog } = this.#outbox;
    this.#end();
    if (backlog === 0) return;
    throw failure(
      `the broker at ${this.#link.address} has not stored ${backlog} messages of durable rooms within ${lastMs} ms`,
    );
  }

  #end(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#reader.stop();
    this.#outbox.close();
  }

  stats(): DurableStats {
    const { backlog, bytes, stored, resent } = this.#outbox;
    const { lag, replays } = this.#reader;
    return { backlog, backlogBytes: bytes, stored, resent, lag, replays };
  }

  /** The broker came, or something that was there is gone. */
  readonly #again = (): void => {
    if (this.#isClosed || this.#link.state !== 'up') return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#setUp !== null) {
      this.#isStale = true;
      return;
    }
    this.#setUp = this.#start().finally(() => {
      this.#setUp = null;
      if (!this.#isStale) return;
      this.#isStale = false;
      this.#again();
    });
  };

  /** Never rejects. */
  async #start(): Promise<void> {
    try {
      const { js, jsm } = await this.#link.jetstream();
      const info = await ensureStream(this.#link, this.#owner, jsm, this.#limits);
      await this.#reader.open(jsm, info);
      if (this.#isClosed || this.#link.state !== 'up') return;
      this.#failure = null;
      this.#refusal = null;
      this.#failures = 0;
      this.#outbox.use(js);
    } catch (error) {
      if (!this.#isClosed && this.#link.state === 'up') this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const known = error instanceof MillraceError ? error : null;
    this.#refusal = known;
    this.#failure = known ?? failure(`nothing can be stored: ${(error as Error).message}`, error);
    this.#outbox.use(null);
    const wait = Math.min(mostWaitMs, leastWaitMs * 2 ** Math.min(this.#failures++, 16));
    this.#timer = setTimeout(this.#again, wait).unref();
  }

  /** False when there is no room for it; the part that was taken in does not come twice. */
  #take(subject: string, payload: Uint8Array): boolean {
    const room = this.#rooms.get(subject);
    if (room === undefined) return true;
    const counts = this.#counts;
    const batch = decodeBatch(payload);
    if (batch === null) {
      counts.malformed++;
      return true;
    }
    const { sender, sequence: first, records } = batch;
    if (sender === this.#link.node) return true;
    const seen = room.expected.seen(sender, first, records.length);
    if (seen < 0) counts.missed -= seen;
    let index = Math.max(0, seen);
    while (index < records.length) {
      const { flags, data } = records[index]!;
      if (!room.onRecord(flags, data)) break;
      counts.received++;
      index++;
    }
    room.expected.reached(sender, first + index);
    if (index < records.length) return false;
    counts.receivedBatches++;
    // The part that came before the queue here was full is not taken twice.
    if (seen === records.length) counts.duplicates += seen;
    return true;
  }
}
