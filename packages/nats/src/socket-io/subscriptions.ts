/**
 * What comes in for a namespace, in the order of its senders.
 *
 * `Subscriptions` hears the subject of all, the node's own, and that of each room with a member here; with connection state
 * recovery a room is heard on for a while after its last member has left. Rooms that are named like sockets have no
 * subject. What one turn of a sender has for a subject comes as one message, so messages to several rooms that took turns
 * with each other come in another order. The sender lists with each such message the subjects that follow
 * (`turn-outbox.ts`), and `Arrivals` holds the turn until those that are heard here have come, or for 100 ms: one of them may have been sent
 * just before it was heard. Then it hands over the records by their position in the turn.
 */

import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import { Heard, type HeardCounts } from '../gaps.js';
import type { Link } from '../link.js';
import { following, positionOf, shortName } from '../turn-outbox.js';
import type { WireBatch, WireRecord } from '../wire.js';
import { longestMs, type Recipients } from './types.js';

/** All nodes hear it. */
export const common = '';

/**
 * How socket.io names its sockets, each of which is in a room of that name. A subscription for each would cost more than it
 * brings: messages to such rooms go to all nodes.
 */
const socketId = /^[\w-]{20}$/;

/** Null: it has no subject of its own. */
export const roomKey = (room: string): string | null => (socketId.test(room) ? null : `r${room}`);
export const nodeKey = (node: string): string => `n${node}`;

/** A room's subject for what is for that room alone. */
export function keyFor({ rooms }: Recipients): string {
  if (rooms.size !== 1) return common;
  const [room] = rooms as Set<string>;
  return roomKey(room!) ?? common;
}

export function subjectOf(link: Link, namespace: string, key: string): string {
  if (key === common) return link.subject('socket-io', namespace, 'all');
  const kind = key[0] === 'r' ? 'room' : 'node';
  return link.subject('socket-io', namespace, kind, key.slice(1));
}

/** Names of namespaces begin with `/`, so `durable` is none of theirs, nor are `nodes` and `node`. */
export const durableSubject = (link: Link, namespace: string): string =>
  link.subject('socket-io', 'durable', namespace);

/** The subjects that are heard for a namespace: all, the node's own, and each room with a member here. */
export class Subscriptions {
  readonly #link: Link;
  readonly #namespace: string;
  readonly #counts: HeardCounts;
  readonly #lingerMs: number;
  readonly #onBatch: (batch: WireBatch, name: number) => void;
  /** How to stop each, by key. */
  readonly #stops = new Map<string, () => void>();
  readonly #names = new Set<number>();
  /** Rooms without members that are still heard for a while, by key. */
  readonly #lingering = new Map<string, NodeJS.Timeout>();

  /** `lingerMs`: how long a room is heard after its last member has left, who may come back for what it got meanwhile. */
  constructor(
    link: Link,
    namespace: string,
    counts: HeardCounts,
    lingerMs: number,
    onBatch: (batch: WireBatch, name: number) => void,
  ) {
    this.#link = link;
    this.#namespace = namespace;
    this.#counts = counts;
    this.#lingerMs = Math.min(lingerMs, longestMs);
    this.#onBatch = onBatch;
    this.#hear(common);
    this.#hear(nodeKey(link.node));
  }

  get size(): number {
    return this.#stops.size;
  }

  /** By its short name. */
  hears(name: number): boolean {
    return this.#names.has(name);
  }

  /** A room has its first member. */
  enter(room: string): void {
    const key = roomKey(room);
    if (key === null) return;
    clearTimeout(this.#lingering.get(key));
    this.#lingering.delete(key);
    if (!this.#stops.has(key)) this.#hear(key);
  }

  /** Its last one has left. */
  leave(room: string): void {
    const key = roomKey(room);
    if (key === null) return;
    if (this.#lingerMs === 0) {
      this.#stops.get(key)?.();
      return;
    }
    const stop = () => {
      this.#lingering.delete(key);
      this.#stops.get(key)?.();
    };
    this.#lingering.set(key, setTimeout(stop, this.#lingerMs).unref());
  }

  close(): void {
    for (const timer of this.#lingering.values()) clearTimeout(timer);
    this.#lingering.clear();
    for (const stop of this.#stops.values()) stop();
  }

  #hear(key: string): void {
    const subject = subjectOf(this.#link, this.#namespace, key);
    const name = shortName(subject);
    const heard = new Heard(this.#link, subject, 'batch', this.#counts, (batch) =>
      this.#onBatch(batch, name),
    );
    this.#names.add(name);
    this.#stops.set(key, () => {
      this.#stops.delete(key);
      this.#names.delete(name);
      heard.stop();
    });
  }
}

/** What has been announced may not come: it was sent just before we heard its subject. */
const patienceMs = 100;

/** A turn of a sender of which more is expected. */
interface Held {
  readonly turn: number;
  readonly records: WireRecord[];
  readonly timer: NodeJS.Timeout;
  /** Short names of the subjects that are to come. */
  awaited: number[];
}

/** Hands over records in the order in which their sender made them: those of a turn with several subjects when all of these are there. */
export class Arrivals {
  readonly #held = new Map<string, Held>();

  /** `hears`: whether messages of this subject come here. What `take` throws is an uncaught exception. */
  constructor(
    readonly hears: (name: number) => boolean,
    readonly take: (sender: string, record: WireRecord) => void,
  ) {}

  /** The message came on the subject with this short name. */
  add({ sender, records }: WireBatch, name: number): void {
    const [first] = records;
    const list = first?.flags === following ? readList(first) : null;
    let held = this.#held.get(sender);
    if (held !== undefined && held.turn !== list?.turn) {
      this.#release(sender, held);
      held = undefined;
    }
    if (list === null) {
      this.#takeAll(sender, records);
      return;
    }
    const awaited = list.names.filter((each) => this.hears(each));
    if (held === undefined) {
      const timer = setTimeout(() => this.#release(sender, held!), patienceMs);
      held = { turn: list.turn, records: [], timer, awaited };
      this.#held.set(sender, held);
    } else {
      // The list of a later message is shorter by what has come, and knows no more than the first.
      held.awaited = held.awaited.filter((each) => each !== name || awaited.includes(name));
    }
    for (const record of records.slice(1)) held.records.push(record);
    if (held.awaited.length === 0) this.#release(sender, held);
  }

  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #release(sender: string, held: Held): void {
    clearTimeout(held.timer);
    this.#held.delete(sender);
    held.records.sort((a, b) => positionOf(a) - positionOf(b));
    this.#takeAll(sender, held.records);
  }

  #takeAll(sender: string, records: readonly WireRecord[]): void {
    for (const record of records) {
      try {
        this.take(sender, record);
      } catch (error) {
        throwLater(error);
      }
    }
  }
}

/** One that is cut off lists nothing. */
function readList({ data }: WireRecord): { turn: number; names: number[] } {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const numbers: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) numbers.push(bytes.readUInt32BE(at));
  const [turn = 0, ...names] = numbers;
  return { turn, names };
}
