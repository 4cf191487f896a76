import { randomBytes } from 'node:crypto';
import { check, parseGiven } from '@millrace/base/options';
import type { PriorityClass } from '@millrace/base/priority';
import { announce } from '@millrace/base/sources';
import { type Batch, Engine, type Sink } from '../engine/engine.js';
import { TurnHost } from '../engine/host.js';
import { orderedSchema, type QueueOptions } from '../engine/options.js';
import { type BatchEvent, TypeEntry } from '../engine/queue.js';
import type { QueueStats } from '../engine/stats.js';
import type { AcrossStats, Receipt, RoomsLink, StreamFields } from './across.js';
import { isFieldText } from './event-stream.js';
import { type Data, Frame, Joined } from './frame.js';
import {
  type Connection,
  checkConnection,
  isResponse,
  Member,
  Room,
  type SlowOptions,
  SocketMember,
  type Written,
} from './member.js';
import {
  checkClose,
  checkName,
  frameOf,
  type PublishOptions,
  publishSchema,
  type RoomsOptions,
  roomsSettings,
  sendSchema,
} from './options.js';
import { checkPresence, type Presence, type PresenceOptions, Presences } from './presence.js';
import { Heartbeat, openStream, StreamMember, sendToStreams } from './stream-member.js';
import { type BackendName, backend, checkBackend, Volley } from './volley.js';

/** Counters of rooms; `Stats` are those of the option `across`. */
export interface RoomsStats<Stats extends AcrossStats = AcrossStats> extends QueueStats {
  rooms: number;
  /** Sockets and event streams that have joined a room or been sent a message, and are not closed. */
  members: number;
  /** Messages sent to members, the writes they took, and their bytes. */
  deliveries: number;
  sends: number;
  sentBytes: number;
  /** Messages that slow members did not get, by class, and slow members that were closed. */
  dropped: { high: number; normal: number; low: number };
  /** Messages in the backlogs of slow members whose place a newer one of their key took. */
  slowSuperseded: number;
  slowClosed: number;
  /** Backend of the sends: the stream of each member, or native. */
  backend: BackendName;
  /** Counters of the exchange with other processes; null without the option `across`. */
  across: Stats | null;
}

const noOptions: PublishOptions = Object.freeze({});
/** Closed rooms push a message here to have it refused. */
const nowhere = new TypeEntry('nowhere');

/**
 * Rooms of WebSockets (of the `ws` package) and of server-sent event streams (the responses of requests, by HTTP/1 or
 * HTTP/2). Messages published in one loop turn leave at its end: each is encoded once for either, each member gets its
 * messages in one write, HIGH first. A slow member delays nobody else.
 *
 * Publishing is O(1); the end of the turn costs one write per member, whatever the number of messages.
 * A member leaves all its rooms by itself when its connection closes. An event stream gets binary messages in base64.
 *
 * With `across` several processes share their rooms; local members get a message as before.
 */
export class Rooms<Stats extends AcrossStats = AcrossStats> {
  readonly #rooms = new Map<string, Room>();
  readonly #members = new Map<Connection, Member>();
  readonly #engine: Engine<Frame>;
  /** Members to close when what is queued has been written. */
  readonly #ending = new Map<Member, { readonly upTo: number; remaining: number }>();
  readonly #slow: SlowOptions;
  readonly #heartbeat: Heartbeat;
  readonly #across: RoomsLink<Stats> | null;
  readonly #presences: Presences;
  readonly #written: Written = {
    sends: 0,
    deliveries: 0,
    bytes: 0,
    dropped: [0, 0, 0],
    slowSuperseded: 0,
    slowClosed: 0,
  };

  /** Throws MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. */
  constructor(options: RoomsOptions<Stats> = {}) {
    const { queue, slow, keepAlive, across, onPresence } = roomsSettings(options);
    checkBackend();
    const host = new TurnHost();
    const maxDeferral = () => this.#engine.options.maxDeferral;
    this.#slow = { ...slow, aging: { now: () => host.now(), maxDeferral } };
    this.#heartbeat = new Heartbeat(keepAlive);
    const fanOut = new FanOut(
      (batch) => this.#sent(batch),
      () => this.#across?.close(),
    );
    // By arrival, so that a socket gets what several rooms and `send` have for it in the order in which it was published.
    this.#engine = new Engine<Frame>(host, fanOut, { ...queue, order: 'arrival' });
    fanOut.engine = this.#engine;
    this.#engine.onSuperseded = this.#superseded;
    host.attach(this.#engine);
    const node = randomBytes(9).toString('base64url');
    this.#presences = new Presences(node, onPresence);
    const here = { node, presences: this.#presences, receive: this.#receive };
    this.#across = across?.connect(here) ?? null;
    announce('rooms', this as Rooms, (each) => each.stats());
  }

  /**
   * Resolves when the broker is connected, and messages of others reach the rooms that have members now; at once without a
   * broker. Rejects with MILLRACE_E_BROKER; rooms still work for local members, and attempts to connect go on.
   */
  async ready(): Promise<void> {
    await this.#across?.ready();
  }

  /**
   * Adds a socket or a response to the room, which is created if needed. A response becomes an event stream: its headers
   * leave now, `content-type`, `cache-control` and `x-accel-buffering` unless it has its own; a response without a body, as
   * for HEAD, is ended. With `presence` the member is listed by `presence()` and `onPresence` on every node. Returns false if
   * it is a member already, if it is not open, and after `close()`. Throws MILLRACE_E_TOO_LARGE for more data than the broker
   * accepts, MILLRACE_E_INVALID_ARGUMENT if the data cannot be cloned.
   */
  join(socket: Connection, name: string, presence?: PresenceOptions): boolean {
    checkName(name);
    if (presence !== undefined) checkPresence(presence);
    // Checks that throw come before anything has changed.
    this.#across?.check(name);
    const member = this.#member(socket);
    if (member === null) return false;
    let room = this.#rooms.get(name);
    if (room?.members.has(member)) return false;
    if (presence !== undefined) this.#presences.join(member, name, presence);
    if (room === undefined) {
      room = new Room(name);
      room.entry = this.#engine.entry(room);
      room.entry.pinned = true;
      this.#rooms.set(name, room);
      this.#across?.open(name);
    }
    // What is queued for the room now was published before it came.
    room.members.set(member, this.#engine.lastSeq);
    member.rooms.add(room);
    return true;
  }

  /** Removes the member from the room, or from all. It still gets messages published before. Returns false if it was in none. */
  leave(socket: Connection, name?: string): boolean {
    if (name !== undefined) checkName(name);
    const member = this.#known(socket);
    if (member === undefined) return false;
    if (name !== undefined) {
      const room = this.#rooms.get(name);
      if (room === undefined || !member.rooms.has(room)) return false;
      this.#leave(member, room);
      return true;
    }
    const some = member.rooms.size > 0;
    for (const room of member.rooms) this.#leave(member, room);
    return some;
  }

  #leave(member: Member, room: Room): void {
    room.remove(member, this.#engine.lastSeq);
    member.rooms.delete(room);
    this.#presences.leave(member, room.name);
    if (room.members.size > 0) return;
    this.#rooms.delete(room.name);
    this.#across?.leave(room.name);
    // If frames are queued, it is forgotten when they have left.
    this.#engine.queue.forget(room);
  }

  /**
   * Sends a message to all members of a room at the end of this turn; returns the number of its members in this process now.
   * Throws MILLRACE_E_OVERLOADED when the queue is full, MILLRACE_E_CLOSED after `close()`; then no member gets it. With a
   * broker also MILLRACE_E_TOO_LARGE for a message above its limit, and MILLRACE_E_BROKER where the broker is `required`.
   *
   * With `key` it supersedes the room's last message with this key wherever that one still waits: in the queue, unless a
   * member excluded from this one would miss it, and in the backlog of each slow member.
   */
  publish(name: string, data: Data, options: PublishOptions = noOptions): number {
    checkName(name);
    if (options !== noOptions) check('Rooms.publish()', options, publishSchema);
    const { except: socket } = options;
    const except = socket === undefined ? null : (this.#known(socket) ?? null);
    const frame = frameOf(data, options, except);
    const room = this.#rooms.get(name);
    if (this.#engine.closed) this.#push(nowhere, frame);
    if (this.#across !== null) this.#publish(this.#across, room, name, frame);
    else if (room !== undefined) this.#queue(room, frame);
    if (room === undefined) return 0;
    return room.members.size - (except !== null && room.members.has(except) ? 1 : 0);
  }

  #queue(room: Room, frame: Frame): void {
    const { entry } = room;
    const older = frame.key === undefined ? undefined : entry.keys?.get(frame.key);
    if (older !== undefined && !room.isSuperseded(older.data as Frame, frame)) {
      this.#engine.queue.freeKey(older);
    }
    room.queued++;
    try {
      this.#push(entry, frame);
    } catch (error) {
      room.queued--;
      throw error;
    }
  }

  /** Through the same queue wherever the members are, so that it leaves in one order to all nodes. */
  #publish(across: RoomsLink<Stats>, room: Room | undefined, name: string, frame: Frame): void {
    across.admit(name, frame);
    try {
      if (room !== undefined) this.#queue(room, frame);
      else this.#push(this.#engine.entry(name), frame);
    } catch (error) {
      across.takeBack(frame);
      throw error;
    }
  }

  /** A message of another process. */
  readonly #receive = (
    name: string,
    data: Buffer,
    binary: boolean,
    priority: PriorityClass,
    key: unknown,
    stream: StreamFields | null = null,
  ): Receipt => {
    const isLine = (text = '') => isFieldText(text);
    if (stream !== null && !(isLine(stream.event) && isLine(stream.id))) return 'malformed';
    const room = this.#rooms.get(name);
    if (room === undefined || this.#engine.closed) return 'taken';
    const frame = new Frame(data, binary, priority, null, key, stream);
    try {
      this.#queue(room, frame);
      return 'taken';
    } catch {
      return frame.data.length <= this.#engine.options.maxQueueBytes ? 'later' : 'never';
    }
  };

  /**
   * Sends a message to one socket or event stream, in order with the messages of its rooms; it need not be in one. A response
   * becomes an event stream as by `join`. Returns false if it is not open. Errors as `publish`.
   */
  send(
    socket: Connection,
    data: Data,
    options: Omit<PublishOptions, 'except'> = noOptions,
  ): boolean {
    if (options !== noOptions) check('Rooms.send()', options, sendSchema);
    const frame = frameOf(data, options, null);
    const member = this.#member(socket);
    if (this.#engine.closed) this.#push(nowhere, frame);
    if (member === null) return false;
    this.#push(this.#engine.entry(member), frame);
    return true;
  }

  #push(entry: TypeEntry, frame: Frame): void {
    // The number it is about to get: under `direct` it leaves inside the push.
    frame.published = this.#engine.lastSeq + 1;
    const { key, priority, data } = frame;
    if (key === undefined) this.#engine.push(entry, frame, priority, data.length, null);
    else this.#engine.pushKeyed(entry, key, frame, priority, data.length, null);
  }

  readonly #superseded = (older: BatchEvent<Frame>, newer: BatchEvent<Frame>): void => {
    const target = older.entry.type;
    if (target instanceof Room) target.queued--;
    if (older.data.route !== null) this.#across!.takeBack(older.data);
    // One in its place leaves for it.
    if (newer.seq === older.seq) return;
    for (const wait of this.#ending.values()) if (older.seq <= wait.upTo) wait.remaining--;
  };

  /**
   * Resolves when the broker has stored all messages published to durable rooms until now; at once when there are none.
   * Rejects with MILLRACE_E_CLOSED if the rooms close first.
   */
  async acknowledged(): Promise<void> {
    await this.#across?.acknowledged();
  }

  /**
   * Returns the presences in a room, on all nodes. While the broker is away nothing changes; a node that is silent for three
   * heartbeats loses its presences. O(n).
   */
  presence(name: string): readonly Presence[] {
    checkName(name);
    return this.#presences.in(name);
  }

  /** Number of members of a room in this process; 0 for a room that does not exist. */
  size(name: string): number {
    checkName(name);
    return this.#rooms.get(name)?.members.size ?? 0;
  }

  /** Sockets and responses in a room. */
  members(name: string): IterableIterator<Connection> {
    checkName(name);
    return connections(this.#rooms.get(name)?.members.keys() ?? []);
  }

  /** Names of the rooms of a socket or a response. */
  of(socket: Connection): string[] {
    return [...(this.#known(socket)?.rooms ?? [])].map((room) => room.name);
  }

  /**
   * Closes a socket or ends a response, after everything that was published to it has been written; `socket.close()` or
   * `response.end()` alone would lose its messages of this turn. `code` and `reason` are for sockets: `code` is one that an
   * application may use (1000 to 1003, 1007 to 1014, 3000 to 4999), `reason` has at most 123 bytes of UTF-8. Returns false if
   * it is not open.
   */
  end(socket: Connection, code?: number, reason?: string): boolean {
    checkClose(code, reason);
    const known = this.#members.get(socket);
    if (known?.isEnding) return known.isOpen;
    const member = this.#member(socket);
    if (member === null) return false;
    member.end(code, reason);
    // What is published from here on is not for it.
    for (const room of member.rooms) this.#leave(member, room);
    const { counters, lastSeq } = this.#engine;
    const remaining = lastSeq - counters.delivered - counters.superseded;
    if (remaining > 0) this.#ending.set(member, { upTo: lastSeq, remaining });
    else member.closeWhenWritten();
    return true;
  }

  /** Writes the queued messages now. */
  flush(): void {
    this.#engine.flush();
  }

  /** Changes options of the queue. Throws MILLRACE_E_INVALID_OPTION. */
  set(options: Partial<Omit<QueueOptions, 'order'>>): this {
    this.#engine.set(parseGiven('Rooms.set()', options, orderedSchema));
    return this;
  }

  /**
   * Writes the queued messages; later ones are refused. The members stay open. Idempotent. The connection to the broker ends
   * when all has left, for which `closed()` waits.
   */
  close(): void {
    this.#engine.close();
    for (const [socket, member] of this.#members) {
      (socket as NodeJS.EventEmitter).off('close', this.#onClose);
      // A backlog stays with its member until the socket has taken it.
      member.releaseWhenDrained();
    }
    this.#heartbeat.close();
    this.#members.clear();
    this.#rooms.clear();
  }

  /**
   * Resolves after `close()` when all messages have left to the broker; at once without one. Rejects with MILLRACE_E_BROKER
   * when messages of durable rooms were not stored within ten seconds of it.
   */
  async closed(): Promise<void> {
    await this.#across?.closed();
  }

  stats(): RoomsStats<Stats> {
    const { sends, deliveries, bytes, dropped, slowSuperseded, slowClosed } = this.#written;
    return {
      ...this.#engine.stats(),
      rooms: this.#rooms.size,
      members: this.#members.size,
      deliveries,
      sends,
      sentBytes: bytes,
      dropped: { high: dropped[0], normal: dropped[1], low: dropped[2] },
      slowSuperseded,
      slowClosed,
      backend: backend(),
      across: this.#across?.stats() ?? null,
    };
  }

  /** The member of a connection; undefined for one that has not been seen. Throws when it is neither a socket nor a response. */
  #known(socket: Connection): Member | undefined {
    const member = this.#members.get(socket);
    if (member === undefined) checkConnection(socket);
    return member;
  }

  /** The member of a connection, made when that is seen first; null when it is not open. */
  #member(socket: Connection): Member | null {
    const known = this.#known(socket);
    if (known !== undefined) return known.isOpen && !known.isEnding ? known : null;
    if (this.#engine.closed) return null;
    const member = this.#made(socket);
    if (member === null) return null;
    this.#members.set(socket, member);
    // Both have this event; their declarations have no overload in common.
    (socket as NodeJS.EventEmitter).once('close', this.#onClose);
    return member;
  }

  #made(socket: Connection): Member | null {
    if (!isResponse(socket)) {
      return socket.readyState === 1 ? new SocketMember(socket, this.#slow, this.#written) : null;
    }
    if (!openStream(socket)) return null;
    const stream = new StreamMember(socket, this.#slow, this.#written);
    stream.whenLost(() => this.#gone(socket));
    this.#heartbeat.add(stream);
    return stream;
  }

  /** `this` is the socket. One function for all of them, so that a socket costs no closure. */
  readonly #onClose = ((rooms: Rooms<Stats>) =>
    function (this: Connection): void {
      rooms.#gone(this);
    })(this);

  #gone(socket: Connection): void {
    const member = this.#members.get(socket);
    if (member === undefined) return;
    for (const room of member.rooms) this.#leave(member, room);
    member.release();
    if (member.isStream) this.#heartbeat.delete(member as StreamMember);
    this.#ending.delete(member);
    this.#members.delete(socket);
    this.#engine.queue.forget(member);
  }

  #sent(batch: Batch<Frame>): void {
    if (this.#across !== null) {
      for (const { data } of batch.events) if (data.route !== null) this.#across.send(data);
    }
    if (this.#ending.size > 0) this.#closeEnding(batch);
  }

  /** Closes the sockets that wait for the end of what is queued, if everything that was taken in has left. */
  #closeEnding(batch: Batch<Frame>): void {
    for (const [member, wait] of this.#ending) {
      for (const { seq } of batch.events) if (seq <= wait.upTo) wait.remaining--;
      if (wait.remaining > 0) continue;
      this.#ending.delete(member);
      member.closeWhenWritten();
    }
  }
}

function* connections(members: Iterable<Member>): IterableIterator<Connection> {
  for (const member of members) yield member.connection;
}

/** Frames of members for whom one room's bytes are not the whole answer: several rooms, or not all frames of one. */
type Mixed = Map<Member, Frame[]>;

/** The sink of the queue: turns a batch of frames for many rooms into one write for each member. */
class FanOut implements Sink<Frame> {
  engine!: Engine<Frame>;
  /** Called when a batch has been written. */
  readonly #onBatch: (batch: Batch<Frame>) => void;
  /** Called after the last batch of a closed queue. */
  readonly end: () => void;

  constructor(onBatch: (batch: Batch<Frame>) => void, onEnd: () => void) {
    this.#onBatch = onBatch;
    this.end = onEnd;
  }

  deliver(batch: Batch<Frame>): boolean {
    const rooms: Room[] = [];
    const mixed: Mixed = new Map();
    batch.events.forEach((event, place) => {
      const frame = event.data;
      frame.place = place;
      frame.tick = event.tick;
      frame.seq = event.seq;
      const target = event.entry.type as Room | Member | string;
      // The name of a room that has members elsewhere only.
      if (typeof target === 'string') return;
      frame.topic = target;
      if (target instanceof Member) {
        collect(mixed, target, [frame]);
        return;
      }
      if (target.frames.length === 0) rooms.push(target);
      target.add(frame);
    });
    // Before any member is written to: one may have left here and still be in another of these rooms.
    for (const room of rooms) {
      for (const member of room.leavers.keys()) {
        if (!room.members.has(member)) collect(mixed, member, room.framesFor(member));
      }
    }
    const sending = new Sending();
    for (const room of rooms) this.#write(room, mixed, sending);
    for (const [member, frames] of mixed) {
      if (frames.length === 0) continue;
      sending.add(member, new Joined(frames.sort((a, b) => a.place - b.place)));
    }
    sending.end();
    this.engine.counters.delivered += batch.events.length;
    this.#forget(rooms, mixed);
    this.#onBatch(batch);
    return true;
  }

  #write(room: Room, mixed: Mixed, sending: Sending): void {
    // The same bytes for everybody who is in this room alone.
    const content = new Joined(room.frames);
    for (const [member, after] of room.members) {
      if (member.rooms.size === 1 && room.getsAll(after) && !mixed.has(member)) {
        sending.add(member, content);
      } else {
        collect(mixed, member, room.framesFor(member));
      }
    }
  }

  /** Ends the batch, and forgets what the engine kept only for what has left now. */
  #forget(rooms: readonly Room[], mixed: Mixed): void {
    const { queue } = this.engine;
    for (const room of rooms) {
      room.sent();
      if (room.members.size === 0) queue.forget(room);
    }
    for (const member of mixed.keys()) if (!member.isOpen) queue.forget(member);
  }

  discard(_event: BatchEvent<Frame>): void {}
}

/** Batch on its way out: natively, all of it together, where that is possible. */
class Sending {
  readonly #volley = Volley.take<Joined>();
  /** Members that must be written to through ws or their streams; that may run other code, so they come last. */
  readonly #rest: [SocketMember, Joined][] = [];
  /** Apart from the sockets, so that neither cuts the other's groups of the same content in two. */
  readonly #streams: [StreamMember, Joined][] = [];

  add(member: Member, content: Joined): void {
    if (member.isStream) {
      this.#streams.push([member as StreamMember, content]);
      return;
    }
    const socket = member as SocketMember;
    const fd = this.#volley === null ? -1 : socket.fdFor(content);
    if (fd < 0) this.#rest.push([socket, content]);
    else this.#volley!.add(socket, fd, content);
  }

  end(): void {
    this.#volley?.send();
    const rest = this.#streams.length > 0 ? sendToStreams(this.#streams) : [];
    for (const [member, content] of this.#rest) member.write(content);
    for (const [member, events] of rest) member.write(events);
  }
}

function collect(mixed: Mixed, member: Member, frames: Frame[]): void {
  const collected = mixed.get(member);
  if (collected === undefined) mixed.set(member, frames);
  else for (const frame of frames) collected.push(frame);
}
