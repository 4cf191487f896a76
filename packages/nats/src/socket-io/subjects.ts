/**
 * The subjects of a namespace: how its messages leave, and what comes in, in the order of its senders.
 *
 * `Sender` sends in order at the end of the turn, or into the stream of durable rooms. In a turn a broadcast with a key takes the place
 * of the one with the same key to the same sockets, unless something else has been sent meanwhile that changes who these are.
 *
 * `Subscriptions` hears the subject of all, the node's own, and that of each room with a member here; with connection state
 * recovery a room is heard on for a while after its last member has left. Rooms that are named like sockets have no
 * subject. What one turn of a sender has for a subject comes as one message, so messages to several rooms that took turns
 * with each other come in another order. The sender lists with each such message the subjects that follow
 * (`turn-outbox.ts`), and `Arrivals` holds the turn until those that are heard here have come, or for 100 ms: one of them may have been sent
 * just before it was heard. Then it hands over the records by their position in the turn.
 */
import { isError } from '@millrace/base/realm';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { atTurnEnd, throwLater } from '@millrace/base/turn';
import { tooLarge } from '../connect.js';
import { Heard, type HeardCounts } from '../gaps.js';
import type { Link } from '../link.js';
import { headerBytes } from '../store/outbox.js';
import { always } from '../store/store.js';
import { following, orderBytes, positionOf, shortName, TurnOutbox } from '../turn-outbox.js';
import { batchHead, bufferOf, recordBytes, type WireBatch, type WireRecord } from '../wire.js';
import { type Head, headOf, longestMs, pack, packValues, type Recipients } from './record.js';
import type { ServerLink } from './server-link.js';

/** Subject that all nodes subscribe to. */
export const common = '';

/**
 * Names of socket.io's sockets, each of which is in a room of that name. A subscription for each would cost more than it
 * saves: messages to such rooms go to all nodes.
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

/** Bytes of a message beside those of its one record. */
const besideBytes = batchHead + recordBytes(0) + Math.max(orderBytes, headerBytes);

/** Names whose subjects are remembered; beyond it they are computed anew. */
const mostSubjects = 10_000;

export class Sender {
  readonly #server: ServerLink;
  readonly #namespace: string;
  readonly #outbox: TurnOutbox;
  /** Subjects by key. */
  readonly #subjects = new Map<string, string>();
  readonly #durableSubject: string;
  /** Broadcasts that a newer one can supersede, and the turn of the outbox that has them. */
  readonly #keyed = new Map<string, { data: Uint8Array }>();
  #keyedTurn = 0;
  #isClosed = false;

  constructor(server: ServerLink, namespace: string) {
    this.#server = server;
    this.#namespace = namespace;
    this.#durableSubject = durableSubject(server.link, namespace);
    this.#outbox = new TurnOutbox(server.link, { ordered: true, unit: 'batch', hold: server.hold });
  }

  /** Sends what somebody may wait for: no hold delays it. Throws MILLRACE_E_TOO_LARGE. */
  send(key: string, record: WireRecord): void {
    this.#keyed.clear();
    this.#add(key, record, true);
  }

  #add(key: string, record: WireRecord, isUrgent = false): void {
    this.#check(record);
    if (!this.#isClosed) this.#outbox.add(this.#subjectOf(key), record, isUrgent);
  }

  /**
   * Sends a broadcast, to all nodes through the stream if it is for a durable room. Throws MILLRACE_E_TOO_LARGE, and for
   * such a room MILLRACE_E_OVERLOADED and MILLRACE_E_BROKER: then nothing has happened. `id` is its own key, if it has one; all that
   * a durable room gets is stored.
   */
  broadcast(
    key: string,
    record: WireRecord,
    to: Recipients,
    id: string | number | undefined,
  ): void {
    const { store } = this.#server;
    if (store === null || !this.#isDurable(to)) {
      if (id === undefined) this.#add(key, record);
      else this.#addKeyed(key, record, JSON.stringify([headOf(to), id]));
      return;
    }
    this.#check(record);
    if (this.#isClosed) return;
    store.reserve(this.#durableSubject, record.data.length);
    store.add(this.#durableSubject, record);
  }

  #addKeyed(key: string, { flags, data }: WireRecord, id: string): void {
    const older = this.#keyedTurn === this.#outbox.turn ? this.#keyed.get(id) : undefined;
    if (older !== undefined) {
      this.#check({ flags, data });
      this.#outbox.replace(older, data);
      return;
    }
    const record = { flags, data };
    this.#add(key, record);
    // It may be the first of a turn.
    if (this.#keyedTurn !== this.#outbox.turn) this.#keyed.clear();
    this.#keyedTurn = this.#outbox.turn;
    this.#keyed.set(id, record);
  }

  /** An answer: what cannot be sent must not end in the code that answers. */
  respond(node: string, head: Head): void {
    try {
      this.send(nodeKey(node), packValues(head));
    } catch (error) {
      this.#server.counts.unanswered++;
      const { request } = head;
      const message = isError(error) ? error.message : String(error);
      this.send(nodeKey(node), pack({ kind: 'failed', request, message }, []));
    }
  }

  /** Responds with sockets, in parts that the broker accepts. */
  respondSockets(node: string, request: number, sockets: readonly object[], isLast = true): void {
    const head = { kind: 'sockets', request, sockets, isLast };
    if (sockets.length < 2) {
      this.respond(node, head);
      return;
    }
    try {
      this.send(nodeKey(node), packValues(head));
    } catch {
      const half = sockets.length >> 1;
      this.respondSockets(node, request, sockets.slice(0, half), false);
      this.respondSockets(node, request, sockets.slice(half), isLast);
    }
  }

  close(): void {
    this.#outbox.flush();
    this.#isClosed = true;
  }

  #subjectOf(key: string): string {
    let subject = this.#subjects.get(key);
    if (subject === undefined) {
      subject = subjectOf(this.#server.link, this.#namespace, key);
      if (this.#subjects.size >= mostSubjects) this.#subjects.clear();
      this.#subjects.set(key, subject);
    }
    return subject;
  }

  #isDurable({ rooms, flags }: Recipients): boolean {
    const { isDurable } = this.#server;
    if (flags?.volatile || isDurable === null) return false;
    return rooms.size === 0 ? isDurable === always : [...rooms].some(isDurable);
  }

  #check({ data }: WireRecord): void {
    const { maxPayload } = this.#server.link;
    if (data.length + besideBytes > maxPayload) throw tooLarge(data.length, maxPayload);
  }
}

/** The subjects that are heard for a namespace: all, the node's own, and each room with a member here. */
export class Subscriptions {
  readonly #link: Link;
  readonly #namespace: string;
  readonly #counts: HeardCounts;
  readonly #lingerMs: number;
  readonly #onBatch: (batch: WireBatch, name: number) => void;
  /** Functions that stop each subscription, by key. */
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

  /** Reports whether a room is subscribed, by its short name. */
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

  /** Leaves a room when its last member has left. */
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

/** Time in ms to wait for an announced message, which may not come: it was sent just before we subscribed. */
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
      // After a pause of this process its timers come first: what has arrived meanwhile is read before that.
      const timer = setTimeout(() => atTurnEnd(() => this.#giveUp(sender, held!)), patienceMs);
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

  /** Hands over what has come of a turn, the rest of which is late. */
  #giveUp(sender: string, held: Held): void {
    if (this.#held.get(sender) === held) this.#release(sender, held);
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

/** Reads a list. One that is cut off lists nothing. */
function readList({ data }: WireRecord): { turn: number; names: number[] } {
  const bytes = bufferOf(data);
  const numbers: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) numbers.push(bytes.readUInt32BE(at));
  const [turn = 0, ...names] = numbers;
  return { turn, names };
}
