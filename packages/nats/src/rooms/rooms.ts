/**
 * Rooms on several machines as one. A room's messages go to a subject of its own, which a node hears while the room has
 * members there; what a turn has for a room leaves as one message (`turn-outbox.ts`). Messages of durable rooms go through
 * a stream instead (`store`). Nodes and presences are those of `members.ts`; `Rooms` itself keeps who is present.
 *
 * A message passes the queue of `Rooms` wherever its members are, so all nodes get it in one order. While the broker is away
 * members here get it all the same: it counts as unsent, and others see that they missed it, unless `required` forbids
 * that. Nothing that another node sends is trusted: what is not of this protocol is counted and ignored.
 */
import { isUtf8 } from 'node:buffer';
import { MillraceError } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import * as is from '@millrace/base/schema';
import type {
  Across,
  Message,
  PresenceEntry,
  PresenceLog,
  RoomsHere,
  RoomsLink,
} from 'millrace/ws';
import { failure } from '../connect.js';
import { Heard } from '../gaps.js';
import { Link } from '../link.js';
import { Members, type Others } from '../members.js';
import { type BrokerOptions, brokerField, brokerSettings, type LinkStats } from '../options.js';
import { headerBytes } from '../store/outbox.js';
import {
  type DurableStats,
  durableField,
  durableRooms,
  Store,
  type StreamLimits,
  streamField,
} from '../store/store.js';
import { TurnOutbox } from '../turn-outbox.js';
import { batchHead, recordBytes } from '../wire.js';
import { keyBytes, readKey, writeKey } from './key.js';

/** Options of {@link natsRooms}. */
export interface NatsRoomsOptions {
  /**
   * NATS server, as 'nats://127.0.0.1:4222', through which all `Rooms` of one namespace are joined; or options of the
   * connection.
   */
  broker: string | BrokerOptions;
  /**
   * Rooms whose messages the broker stores until every node has them: all, or those for which the function returns true. Its
   * result for a name must be the same at any time and on every node. Default: none.
   */
  durable?: boolean | ((room: string) => boolean);
  /** Limits of the stream of durable rooms. */
  stream?: StreamLimits;
  /**
   * Time in ms between signs of life of this node, 100 to 60,000. Default: 2000. After three missing ones the others count it
   * as gone.
   */
  heartbeat?: number;
  /** True: `publish()` throws MILLRACE_E_BROKER while the broker is away. False (default): local members get the message, others do not. */
  required?: boolean;
}

/** Counters of rooms on several machines. Messages are counted as `publish()` takes them, not as NATS packs them. */
export interface NatsRoomsStats {
  /** The name of this node: random, of 12 characters. */
  node: string;
  /** Other nodes whose messages arrive and whose members are known. */
  nodes: number;
  /** Rooms, not durable ones, subscribed at the broker: those with members here. */
  subscriptions: number;
  /** Messages sent to other nodes, and the NATS messages they left in. Durable rooms are excluded. */
  sent: number;
  sentBatches: number;
  /** Messages received from other nodes, and the NATS messages they came in. */
  received: number;
  receivedBatches: number;
  /**
   * Messages not sent: the broker was away or too slow. Messages of durable rooms wait; of these, only those too large for
   * the broker count.
   */
  unsent: number;
  /** Messages for members here that were lost, as the numbers of later ones show. */
  missed: number;
  /** Messages that arrived again, and were ignored. */
  duplicates: number;
  /** NATS messages that are not of this protocol, and were ignored. */
  malformed: number;
  /**
   * Messages of nodes, and presences of others, beyond the limits: 10,000 nodes, 64 MiB of lists on their way, 1 GiB of
   * presences.
   */
  ignored: number;
  /**
   * Messages of other nodes for which the queue here had no room. Messages of durable rooms are read again, except one that
   * is larger than `maxQueueBytes`.
   */
  refused: number;
  /** Presences in rooms, on all nodes. */
  present: number;
  /** Durable rooms; null when there are none. */
  durable: DurableStats | null;
  /** The connection to the broker. */
  link: LinkStats;
}

/**
 * Joins the rooms of all processes of a namespace: `new Rooms({ across: natsRooms({ broker }) })`. It connects when `Rooms`
 * is created, and ends with it. Throws MILLRACE_E_INVALID_OPTION for bad options.
 */
export function natsRooms(options: NatsRoomsOptions): Across<NatsRoomsStats> {
  const settings = settingsOf(options);
  return { connect: (here) => new NatsRooms(settings, here) };
}

/** Route of a room's messages. */
interface Route {
  readonly subject: string;
  readonly isDurable: boolean;
}

/** Flags of a record: the class in two bits, then whether it is binary, and whether a key, an event and an id come before the payload, in this order. */
const priorityBits = 3;
const binaryBit = 4;
const partBits = [8, 16, 32] as const;
const knownBits = partBits.reduce((bits, bit) => bits | bit, priorityBits | binaryBit);

const partNames = ['key', 'event', 'id'] as const;
/** Returns the parts before the payload, each in the form of a key. */
const partsOf = ({ key, stream }: Message) => [key, stream?.event, stream?.id];

function flagsOf(message: Message): number {
  const parts = partsOf(message);
  const { priority, binary } = message;
  return partBits.reduce<number>(
    (flags, bit, part) => flags | (parts[part] === undefined ? 0 : bit),
    priority | (binary ? binaryBit : 0),
  );
}

/** Bytes of a message with what comes before its payload. */
const sizeOf = (message: Message) =>
  partsOf(message).reduce<number>(
    (bytes, part, at) => bytes + keyBytes(part, partNames[at]),
    message.payload.length,
  );

/** The data of a record. */
const dataOf = (message: Message) =>
  partsOf(message).reduceRight<Buffer>(
    (data, part) => (part === undefined ? data : writeKey(part, data)),
    message.payload,
  );

/** The parts of a record and its payload; null if it is malformed. */
function readParts(flags: number, record: Buffer) {
  const parts: (string | number | undefined)[] = [];
  let data = record;
  for (const bit of partBits) {
    const keyed = (flags & bit) === 0 ? { key: undefined, data } : readKey(data);
    if (keyed === null) return null;
    parts.push(keyed.key);
    data = keyed.data;
  }
  const [key, event, id] = parts;
  if (typeof event === 'number' || typeof id === 'number') return null;
  return { key, stream: event === undefined && id === undefined ? null : { event, id }, data };
}

/** Names whose subjects are remembered; beyond it they are computed anew. */
const mostRoutes = 10_000;
const beatRange = [100, 60_000] as const;

class NatsRooms implements RoomsLink<NatsRoomsStats>, Others<PresenceEntry>, PresenceLog {
  readonly #settings: ReturnType<typeof settingsOf>;
  readonly #here: RoomsHere;
  readonly #link: Link;
  readonly #counts = {
    ...{ sent: 0, sentBatches: 0, received: 0, receivedBatches: 0, unsent: 0 },
    ...{ missed: 0, duplicates: 0, malformed: 0, ignored: 0, refused: 0 },
  };
  readonly #outbox: TurnOutbox;
  readonly #store: Store | null;
  readonly #members: Members<PresenceEntry>;
  /** Rooms, not durable ones, with members here, by subject. */
  readonly #heard = new Map<string, Heard>();
  readonly #routes = new Map<string, Route>();
  #isClosed = false;
  #end!: (result: Promise<void>) => void;
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(settings: ReturnType<typeof settingsOf>, here: RoomsHere) {
    this.#settings = settings;
    this.#here = here;
    this.#link = new Link(settings.broker, 'rooms', here.node);
    const counts = this.#counts;
    this.#outbox = new TurnOutbox(this.#link, {
      // It is fed when a batch of the engine leaves, which is the end of a turn.
      soon: true,
      unit: 'record',
      onSent(records, isSent) {
        if (isSent) counts.sentBatches++;
        counts[isSent ? 'sent' : 'unsent'] += records;
      },
    });
    const isDurable = settings.durable !== null;
    this.#store = isDurable ? new Store(this.#link, 'rooms', settings.stream, counts) : null;
    const options = { beatMs: settings.heartbeat, beatRange, forgetsWhenAway: false };
    this.#members = new Members(this.#link, 'rooms', options, counts, this);
    here.presences.log = this;
  }

  async ready(): Promise<void> {
    await this.#link.ready();
    await this.#store?.ready();
    await this.#link.flush();
  }

  async acknowledged(): Promise<void> {
    await this.#store?.acknowledged();
  }

  /** Throws what the option `durable` throws. */
  check(room: string): void {
    this.#route(room);
  }

  open(room: string): void {
    const { subject, isDurable } = this.#route(room);
    if (isDurable) {
      this.#store!.open(subject, (flags, data) => this.#take(room, flags, data as Buffer));
      return;
    }
    const counts = this.#counts;
    const heard = new Heard(this.#link, subject, 'record', counts, ({ records }, seen) => {
      counts.receivedBatches++;
      counts.received += records.length - seen;
      for (let index = seen; index < records.length; index++) {
        const { flags, data } = records[index]!;
        if (!this.#take(room, flags, data as Buffer)) counts.refused++;
      }
    });
    this.#heard.set(subject, heard);
  }

  leave(room: string): void {
    const { subject, isDurable } = this.#route(room);
    if (isDurable) this.#store!.leave(subject);
    this.#heard.get(subject)?.stop();
    this.#heard.delete(subject);
  }

  #route(room: string): Route {
    let route = this.#routes.get(room);
    if (route === undefined) {
      const isDurable = this.#settings.durable?.(room) === true;
      const kind = isDurable ? 'durable' : 'room';
      route = { subject: this.#link.subject('rooms', kind, room), isDurable };
      if (this.#routes.size >= mostRoutes) this.#routes.clear();
      this.#routes.set(room, route);
    }
    return route;
  }

  /** A record of another node. False: there is no room for it now. */
  #take(room: string, flags: number, record: Buffer): boolean {
    const priority = flags & priorityBits;
    const binary = (flags & binaryBit) !== 0;
    const parts = flags <= knownBits && priority <= 2 ? readParts(flags, record) : null;
    // A browser ends a connection that sends invalid text.
    if (parts === null || !(binary || isUtf8(parts.data))) {
      this.#counts.malformed++;
      return true;
    }
    const { key, stream, data } = parts;
    const receipt = this.#here.receive(
      room,
      data,
      binary,
      priority as Message['priority'],
      key,
      stream,
    );
    if (receipt === 'malformed') this.#counts.malformed++;
    // Read again, it would be refused for ever.
    if (receipt === 'never') this.#counts.refused++;
    return receipt !== 'later';
  }

  /** Throws MILLRACE_E_TOO_LARGE, MILLRACE_E_BROKER, MILLRACE_E_OVERLOADED, or MILLRACE_E_INVALID_ARGUMENT for the key. */
  admit(room: string, message: Message): void {
    const length = sizeOf(message);
    const route = this.#route(room);
    if (this.#settings.required && this.#link.state !== 'up') {
      throw failure(
        `the broker at ${this.#link.address} is away, and these rooms require it; nobody gets the message`,
      );
    }
    const most = this.#link.maxPayload - batchHead - recordBytes(0) - headerBytes;
    if (length > most) {
      throw new MillraceError(
        'MILLRACE_E_TOO_LARGE',
        `a message of ${length} bytes is above the ${most} that the broker takes at once; publish less, or raise max_payload of nats-server`,
      );
    }
    if (route.isDurable) this.#store!.reserve(route.subject, length);
    message.route = route;
  }

  takeBack(message: Message): void {
    const { subject, isDurable } = message.route as Route;
    if (isDurable) this.#store!.release(subject, sizeOf(message));
  }

  send(message: Message): void {
    const { subject, isDurable } = message.route as Route;
    const record = { flags: flagsOf(message), data: dataOf(message) };
    if (isDurable) this.#store!.add(subject, record);
    else this.#outbox.add(subject, record);
  }

  joined(key: number, record: Buffer): void {
    const { length } = record;
    const most = this.#members.maxBytes;
    if (length > most) {
      throw new MillraceError(
        'MILLRACE_E_TOO_LARGE',
        `a presence of ${length} bytes is above the ${most} that the broker takes at once; its data must be smaller`,
      );
    }
    this.#members.add(key, record);
  }

  left(key: number): void {
    this.#members.remove(key);
  }

  decode(node: string, key: number, ageMs: number, record: Buffer): PresenceEntry | null {
    return this.#here.presences.decode(node, key, ageMs, record);
  }

  add(node: string, entry: PresenceEntry): boolean {
    return this.#here.presences.add(node, entry, 'member');
  }

  remove(node: string, key: number): void {
    this.#here.presences.remove(node, key, 'member');
  }

  replace(node: string, entries: readonly PresenceEntry[], isNew: boolean): number {
    return this.#here.presences.replace(node, entries, isNew ? 'node' : 'member');
  }

  forget(node: string): void {
    for (const heard of this.#heard.values()) heard.forget(node);
    this.#store?.forget(node);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end(this.#drain());
    // Somebody may ask for it by `closed()`, or nobody.
    this.#ended.catch(() => {});
  }

  /** Rejects with MILLRACE_E_BROKER when the broker has not stored everything of durable rooms. */
  closed(): Promise<void> {
    return this.#ended;
  }

  async #drain(): Promise<void> {
    this.#outbox.flush();
    this.#members.close();
    try {
      await this.#store?.close();
    } finally {
      await this.#link.close();
    }
  }

  stats(): NatsRoomsStats {
    return {
      node: this.#here.node,
      nodes: this.#members.size,
      subscriptions: this.#heard.size,
      ...this.#counts,
      present: this.#here.presences.size,
      durable: this.#store?.stats() ?? null,
      link: this.#link.stats(),
    };
  }
}

export const natsRoomsSchema = is.schema({
  broker: brokerField,
  durable: durableField,
  stream: streamField,
  heartbeat: is.ms(...beatRange, 2000),
  required: is.boolean(false),
} satisfies is.FieldsOf<NatsRoomsOptions>);

function settingsOf(options: NatsRoomsOptions) {
  const settings = parse('natsRooms()', options, natsRoomsSchema);
  // For its errors, which should come here.
  brokerSettings(settings.broker);
  return { ...settings, durable: durableRooms(settings.durable) };
}
