/** Rooms on several machines as one: what goes out, what comes in, and who is there. */
import { isUtf8 } from 'node:buffer';
import { failure } from '../../broker/failure.js';
import type { Link } from '../../broker/link.js';
import { batchHead, recordBytes } from '../../broker/wire.js';
import type { PriorityClass } from '../../core/intake/priority.js';
import { MillraceError } from '../../errors.js';
import type { Frame, Route } from '../frame.js';
import { Durable } from './durable/durable.js';
import { headerBytes } from './durable/outbox.js';
import type { FleetSettings } from './options.js';
import { Nodes } from './presence/nodes.js';
import type { Presences } from './presence/presences.js';
import { Publisher } from './publisher.js';
import { type OnRecord, Receiver } from './receiver.js';
import { type FleetStats, newCounts } from './stats.js';

/** Takes a message for the members of a room here. False: the queue has no room for it now. */
type OnMessage = (room: string, data: Buffer, binary: boolean, priority: PriorityClass) => boolean;

/** Flags of a record: the class in two bits, then whether it is binary. */
const priorityBits = 3;
const binaryBit = 4;
const flagsOf = ({ priority, binary }: Frame) => priority | (binary ? binaryBit : 0);

/** How many names' subjects are remembered; beyond it they are worked out anew. */
const mostRoutes = 10_000;

export class Fleet {
  readonly #settings: FleetSettings;
  readonly #link: Link;
  readonly #presences: Presences;
  readonly #onMessage: OnMessage;
  readonly #counts = newCounts();
  readonly #publisher: Publisher;
  readonly #receiver: Receiver;
  readonly #durable: Durable | null;
  readonly #nodes: Nodes;
  readonly #routes = new Map<string, Route>();
  #isClosed = false;
  #end!: (result: Promise<void>) => void;
  readonly #ended = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(settings: FleetSettings, link: Link, presences: Presences, onMessage: OnMessage) {
    this.#settings = settings;
    this.#link = link;
    this.#presences = presences;
    this.#onMessage = onMessage;
    this.#publisher = new Publisher(link, this.#counts);
    this.#receiver = new Receiver(link, this.#counts);
    this.#durable = settings.hasDurable
      ? new Durable(link, 'rooms', settings.stream, this.#counts)
      : null;
    this.#nodes = new Nodes(link, presences, this.#counts, settings.heartbeat, (node) => {
      this.#receiver.forget(node);
      this.#durable?.forget(node);
    });
  }

  /** Resolves when it is connected and hears the rooms that have members now. */
  async ready(): Promise<void> {
    await this.#link.ready();
    await this.#durable?.ready();
    await this.#link.flush();
  }

  async acknowledged(): Promise<void> {
    await this.#durable?.acknowledged();
  }

  /** Where a room's messages go. Throws what the option `durable` throws. */
  route(room: string): Route {
    let route = this.#routes.get(room);
    if (route === undefined) {
      const isDurable = this.#durable !== null && this.#settings.durable(room);
      const kind = isDurable ? 'durable' : 'room';
      route = { room, subject: this.#link.subject('rooms', kind, room), isDurable };
      if (this.#routes.size >= mostRoutes) this.#routes.clear();
      this.#routes.set(room, route);
    }
    return route;
  }

  /** A room has its first member here. */
  open(room: string): void {
    const { subject, isDurable } = this.route(room);
    const onRecord: OnRecord = (flags, data) => this.#take(room, flags, data as Buffer);
    (isDurable ? this.#durable! : this.#receiver).open(subject, onRecord);
  }

  /** Its last one has left. */
  leave(room: string): void {
    const { subject, isDurable } = this.route(room);
    if (isDurable) this.#durable!.leave(subject);
    else this.#receiver.close(subject);
  }

  #take(room: string, flags: number, data: Buffer): boolean {
    const priority = flags & priorityBits;
    const binary = (flags & binaryBit) !== 0;
    // A browser ends a connection that sends invalid text.
    if (flags > (priorityBits | binaryBit) || priority > 2 || !(binary || isUtf8(data))) {
      this.#counts.malformed++;
      return true;
    }
    return this.#onMessage(room, data, binary, priority as PriorityClass);
  }

  /**
   * A message is about to be queued. Throws MILLRACE_E_TOO_LARGE, MILLRACE_E_BROKER or MILLRACE_E_OVERLOADED, and then
   * nothing has changed.
   */
  admit(room: string, frame: Frame): void {
    const { length } = frame.payload;
    const route = this.route(room);
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
    if (route.isDurable) this.#durable!.reserve(route.subject, length);
    frame.route = route;
  }

  /** A message of another node is larger than the whole queue here: it would be read again for ever. */
  refuse(): void {
    this.#counts.refused++;
  }

  /** The queue has refused it after all. */
  takeBack({ route, payload }: Frame): void {
    if (route?.isDurable) this.#durable!.release(route.subject, payload.length);
  }

  /** A message leaves for the members here, and also for those elsewhere. */
  send(frame: Frame): void {
    const { route, payload } = frame;
    if (route === null) return;
    const record = { flags: flagsOf(frame), data: payload };
    (route.isDurable ? this.#durable! : this.#publisher).add(route.subject, record);
  }

  /** Sends what has been gathered, and ends. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#end(this.#drain());
    // Somebody may ask for it by `closed()`, or nobody.
    this.#ended.catch(() => {});
  }

  /** Resolves when all has left, after `close()`. Rejects with MILLRACE_E_BROKER when the broker has not stored everything of durable rooms. */
  closed(): Promise<void> {
    return this.#ended;
  }

  async #drain(): Promise<void> {
    this.#publisher.flush();
    this.#nodes.close();
    try {
      await this.#durable?.close();
    } finally {
      await this.#link.close();
    }
  }

  stats(): FleetStats {
    return {
      node: this.#link.node,
      nodes: this.#nodes.size,
      subscriptions: this.#receiver.size,
      ...this.#counts,
      present: this.#presences.size,
      durable: this.#durable?.stats() ?? null,
      link: this.#link.stats(),
    };
  }
}
