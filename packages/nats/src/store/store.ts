/**
 * The store: what is published to a durable subject is stored by the broker, in a stream of JetStream, and read from there by
 * every node, even by one that was away. `outbox.ts` keeps messages until they are stored; `reader.ts` reads the whole
 * stream, and what has no subscriber here is left out.
 *
 * The store is not set up, being set up, in use, or has failed and tries again later; it begins anew whenever the broker comes back,
 * or the stream or its consumer is gone. Only `#again` starts a set-up, one at a time. Each record is delivered once to each node and in the
 * order of its sender, by its number; one that there is no room for is read again, without those that came before it.
 */

import { MillraceError } from '@millrace/base/errors';
import * as is from '@millrace/base/schema';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { JetStreamManager, StreamConfig, StreamInfo } from '../client-types.js';
import { failure } from '../connect.js';
import { Expected } from '../gaps.js';
import { createStream, findStream } from '../jetstream.js';
import type { Link } from '../link.js';
import { decodeBatch, type WireRecord } from '../wire.js';
import { Outbox } from './outbox.js';
import { Reader } from './reader.js';

/** Limits on age and size of the stored messages of durable rooms. All nodes of a fleet must have the same. */
export interface StreamLimits {
  /** Age in ms up to which an absent node can still get a message: 1000 to 31,536,000,000 (a year). Default: 600,000 (10 min). */
  maxAge?: number;
  /** Bytes of the whole stream; the oldest messages make room. 1 MiB to 2^53 - 1. Default: 1 GiB. */
  maxBytes?: number;
  /** Servers of a cluster that store each message: 1 to 5. Default: 1. */
  replicas?: number;
}

/** Counters of durable rooms. */
export interface DurableStats {
  /** Messages published here that the broker has not stored yet, and their bytes. */
  backlog: number;
  backlogBytes: number;
  /** Messages that the broker has stored. */
  stored: number;
  /** Stored NATS messages that were sent again. */
  resent: number;
  /** Stored NATS messages that this node has not read yet, according to the broker. */
  lag: number;
  /** Restarts of reading: after the broker was away, or the queue here had no room. */
  replays: number;
}

/** Owner of the subjects: part of the name of the stream, and of its subjects. */
type Owner = 'rooms' | 'socket-io';

/** Takes one record. False: there is no room for it now. Its bytes are for it alone until it returns. */
type OnRecord = (flags: number, data: Uint8Array) => boolean;

interface StoreCounts {
  received: number;
  receivedBatches: number;
  unsent: number;
  missed: number;
  duplicates: number;
  malformed: number;
}

interface Channel {
  readonly onRecord: OnRecord;
  readonly expected: Expected;
}

/** The option `durable`, of rooms and of the adapter of socket.io. */
export const durableField = is.either(
  is.boolean(),
  is.callback<(room: string) => boolean>('a function of the name of a room'),
);

export const streamSchema = is.schema({
  maxAge: is.ms(1000, 31_536_000_000, 600_000),
  maxBytes: is.bytes(1024 * 1024, Number.MAX_SAFE_INTEGER, 2 ** 30),
  replicas: is.integer(1, 5, 1),
} satisfies is.FieldsOf<StreamLimits>);

/** The option `stream` of both. */
export const streamField = is.or(
  is.object(streamSchema),
  streamSchema.defaults as unknown as Required<StreamLimits>,
);

export const always = () => true;

const nanoseconds = 1e6;
/** Time in ms for which the broker recognizes a message that is sent again. Receivers recognize it in any case. */
const dedupeMs = 120_000;
const leastWaitMs = 100;
const mostWaitMs = 5000;
/** Time in ms that `close()` waits for the broker. */
const lastMs = 10_000;

/** The stream of one owner, and what is stored and read there. */
export class Store {
  readonly #link: Link;
  readonly #owner: Owner;
  readonly #limits: Required<StreamLimits>;
  readonly #counts: StoreCounts;
  readonly #outbox: Outbox;
  readonly #reader: Reader;
  readonly #channels = new Map<string, Channel>();
  /** The set-up that is under way. */
  #setUp: Promise<void> | null = null;
  /** True if it was requested again meanwhile. */
  #isStale = false;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** Error of the last set-up. */
  #failure: MillraceError | null = null;
  /** Reason why nothing can be stored although the broker is connected, and waiting does not help. */
  #refusal: MillraceError | null = null;

  /** Creates a store, whose backlog is bounded by the `maxPending` of the link. */
  constructor(link: Link, owner: Owner, limits: Required<StreamLimits>, counts: StoreCounts) {
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
    this.#channels.set(subject, { onRecord, expected: new Expected() });
  }

  leave(subject: string): void {
    this.#channels.delete(subject);
  }

  forget(sender: string): void {
    for (const { expected } of this.#channels.values()) expected.forget(sender);
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
    let backlog = 0;
    try {
      await Promise.race([this.#outbox.acknowledged(), late]);
    } finally {
      clearTimeout(timer);
      ({ backlog } = this.#outbox);
      this.#end();
    }
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
      const info = await openStream(this.#link, this.#owner, jsm, this.#limits);
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
    const channel = this.#channels.get(subject);
    if (channel === undefined) return true;
    const counts = this.#counts;
    const batch = decodeBatch(payload);
    if (batch === null) {
      counts.malformed++;
      return true;
    }
    const { sender, sequence: first, records } = batch;
    if (sender === this.#link.node) return true;
    const seen = channel.expected.seen(sender, first, records.length);
    if (seen < 0) counts.missed -= seen;
    let index = Math.max(0, seen);
    while (index < records.length) {
      const { flags, data } = records[index]!;
      if (!channel.onRecord(flags, data)) break;
      counts.received++;
      index++;
    }
    channel.expected.reached(sender, first + index);
    if (index < records.length) return false;
    counts.receivedBatches++;
    // The part that came before the queue here was full is not taken twice.
    if (seen === records.length) counts.duplicates += seen;
    return true;
  }
}

function configOf(
  link: Link,
  owner: Owner,
  { maxAge, maxBytes, replicas }: Required<StreamLimits>,
) {
  return {
    name: `${link.namespace}_${owner}`,
    subjects: [`${link.subject(owner, 'durable')}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    max_age: Math.round(maxAge) * nanoseconds,
    max_bytes: maxBytes,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    num_replicas: replicas,
    duplicate_window: Math.min(Math.round(maxAge), dedupeMs) * nanoseconds,
  } satisfies Partial<StreamConfig>;
}

/** Rejects with MILLRACE_E_BROKER when the stream is there and set up otherwise. */
async function openStream(
  link: Link,
  owner: Owner,
  jsm: JetStreamManager,
  limits: Required<StreamLimits>,
): Promise<StreamInfo> {
  const wanted = configOf(link, owner, limits);
  const info = (await findStream(jsm, wanted.name)) ?? (await createStream(jsm, wanted));
  const found = info.config as unknown as Record<string, unknown>;
  for (const [name, value] of Object.entries(wanted)) {
    const is = JSON.stringify(found[name]);
    const must = JSON.stringify(value);
    if (is === must) continue;
    throw failure(
      `the stream ${wanted.name} is there with ${name} ${is}, and these rooms want ${must}; give all nodes the same option 'stream', use another namespace, or remove the stream`,
    );
  }
  return info;
}

/** Returns the predicate for durable rooms; null: none. */
export function durableRooms(
  durable: boolean | ((room: string) => boolean) | undefined,
): ((room: string) => boolean) | null {
  if (typeof durable === 'function') return durable;
  return durable ? always : null;
}
