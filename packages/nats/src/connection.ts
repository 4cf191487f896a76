/**
 * A connection to a NATS server, shared by all links of the process to the same server (`link.ts`). NATS does not send a
 * connection its own messages (`noEcho`), so two links that may talk with each other need one each: a connection has at most one
 * link of an area of subjects.
 *
 * `Keeper` alone makes the client's connection, and makes another one whenever the client has given it up; the client itself
 * brings back one that is lost. It is connecting until the first is there, then up or down. `Interests` are subscribed
 * on whichever connection there is. `Pending` bounds the bytes that are under way: while the broker is away, or too far
 * behind, nothing leaves and nothing is kept. The last link that is closed ends it.
 */

import { MillraceError } from '@millrace/base/errors';
import { announce } from '@millrace/base/sources';
import { clearTimeout, setTimeout, sleep } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import type { Msg, MsgHdrs, NatsConnection, Subscription } from './client-types.js';
import {
  backOffMs,
  connect,
  denied,
  describe,
  failure,
  isDenial,
  oldest,
  tooLarge,
  tooOld,
  where,
} from './connect.js';
import { openJetStream, type Streams } from './jetstream.js';
import type { BrokerSettings, LinkState, LinkStats } from './options.js';

/** A link, as its connection sees it. */
export interface User {
  /** Of its subjects: 'rooms', 'tasks'. */
  readonly area: string;
  up(): void;
  /** Called when the connection is lost, and for each failed attempt. */
  down(error: MillraceError): void;
  /** The reason why there is no connection has changed. */
  changed(): void;
}

const defaultMaxPayload = 1024 * 1024;
/** Time limit in ms, so that a silent broker does not hold up a close. */
const closeMs = 2000;

/** Open connections by their options. */
const open = new Map<string, Set<Connection>>();

export class Connection {
  readonly settings: BrokerSettings;
  readonly #key: string;
  readonly #users = new Set<User>();
  readonly #keeper: Keeper;
  readonly #pending: Pending;
  readonly #interests = new Interests((bytes) => {
    this.#stats.received++;
    this.#stats.receivedBytes += bytes;
  });
  readonly #stats = {
    ...{ sent: 0, sentBytes: 0, received: 0, receivedBytes: 0, reconnects: 0 },
    unsent: { away: 0, full: 0 },
    denied: { publish: 0, subscribe: 0 },
  };
  state: LinkState = 'connecting';
  /** Reason why there is no connection now. */
  failure: MillraceError | null = null;
  #streams: Promise<Streams> | null = null;

  /** The connection for one more user: one that others have, or a new one. `release()` gives it back. */
  static acquire(settings: BrokerSettings, user: User): Connection {
    const { namespace: _, connectTimeout: __, ...own } = settings;
    const key = JSON.stringify(own);
    const alike = open.get(key) ?? new Set();
    open.set(key, alike);
    const isFree = (each: Connection) => ![...each.#users].some(({ area }) => area === user.area);
    const connection = [...alike].find(isFree) ?? new Connection(settings, key);
    alike.add(connection);
    connection.#users.add(user);
    return connection;
  }

  private constructor(settings: BrokerSettings, key: string) {
    this.settings = settings;
    this.#key = key;
    this.#pending = new Pending(settings.maxPending);
    this.#keeper = new Keeper(settings, settings.name ?? `millrace ${process.pid}`, {
      up: (connection) => this.#up(connection),
      away: (error) => this.#away(error),
      failed: (error) => this.#down(error),
      over: (error) => this.#over(error),
      said: (error) => this.#said(error),
    });
    announce('broker', this as Connection, (connection) => connection.stats(connection.state));
  }

  /** The user is done with it. Sends what is under way, for 2 s at most. */
  async release(user: User): Promise<void> {
    this.#users.delete(user);
    const isUp = this.state === 'up';
    if (this.#users.size > 0) {
      const flushed = isUp ? this.flush().catch(() => {}) : undefined;
      await Promise.race([flushed, sleep(closeMs, { ref: false })]);
      return;
    }
    const alike = open.get(this.#key)!;
    alike.delete(this);
    if (alike.size === 0) open.delete(this.#key);
    this.state = 'closed';
    await this.#keeper.close(isUp);
    this.#pending.end(failure(`the connection to ${where(this.settings)} is closed`));
  }

  /** Bytes that a message may have, including its headers; 1 MiB until the broker has said. */
  get maxPayload(): number {
    return this.#keeper.connection?.info?.max_payload ?? defaultMaxPayload;
  }

  publish(
    subject: string,
    payload: Uint8Array,
    options: { reply?: string; headers?: MsgHdrs },
  ): boolean {
    if (payload.length > this.maxPayload) throw tooLarge(payload.length, this.maxPayload);
    const connection = this.#present();
    if (connection === null) {
      this.#stats.unsent.away++;
      return false;
    }
    if (!this.#pending.fits(payload.length, connection)) {
      this.#stats.unsent.full++;
      return false;
    }
    try {
      connection.publish(subject, payload, options);
    } catch (error) {
      // Only the client knows how long the headers are.
      if (!/max_payload/.test((error as Error).message)) throw error;
      throw tooLarge(payload.length, this.maxPayload, 'and its headers');
    }
    this.#stats.sent++;
    this.#stats.sentBytes += payload.length;
    this.#pending.add(payload.length, connection);
    return true;
  }

  subscribe(subject: string, onMessage: OnMessage): Stop {
    return this.#interests.add(subject, onMessage);
  }

  /** Returns the reason why a subject cannot be subscribed at present; undefined if none is known. */
  denial(subject: string): MillraceError | undefined {
    const denial = this.#interests.denial(subject);
    return denial && denied(denial, this.settings);
  }

  /** Resolves when the broker has taken all that was sent before. Rejects when it is away, or goes away meanwhile. */
  async flush(): Promise<void> {
    const connection = this.#needed();
    try {
      await this.#pending.flush(connection);
    } catch (error) {
      if (error instanceof MillraceError) throw error;
      throw failure(`the broker at ${where(this.settings)} went away`, error);
    }
  }

  async jetstream(): Promise<Streams> {
    this.#streams ??= openJetStream(this.#needed(), where(this.settings));
    const streams = this.#streams;
    try {
      return await streams;
    } catch (error) {
      if (this.#streams === streams) this.#streams = null;
      throw error;
    }
  }

  stats(state: LinkState): LinkStats {
    const { unsent, denied, ...counts } = this.#stats;
    const pendingBytes = this.#pending.bytes;
    return { state, ...counts, unsent: { ...unsent }, denied: { ...denied }, pendingBytes };
  }

  #up(connection: NatsConnection): void {
    if (this.state === 'down') this.#stats.reconnects++;
    this.state = 'up';
    this.failure = null;
    this.#pending.forget();
    this.#interests.openOn(connection);
    for (const user of [...this.#users]) user.up();
  }

  #away(error: MillraceError): void {
    // The error that ends an attempt says less than what the broker said during it.
    if (this.state === 'up') this.#down(error);
  }

  #over(error: MillraceError): void {
    this.#streams = null;
    this.#pending.end(error);
    this.#away(error);
  }

  #down(error: MillraceError): void {
    this.failure = error;
    if (this.state === 'up') this.state = 'down';
    for (const user of [...this.#users]) user.down(error);
  }

  #said(error: Error): void {
    if (isDenial(error)) {
      const act = error.operation === 'publish' ? 'publish' : 'subscribe';
      // Warned of once for sending and once for hearing.
      if (++this.#stats.denied[act] > 1) return;
      const { message, code } = denied(error, this.settings);
      const text = `${message} (further ones are counted in stats())`;
      process.emitWarning(text, { type: 'MillraceWarning', code });
      return;
    }
    this.failure = describe(error, this.settings);
    for (const user of [...this.#users]) user.changed();
  }

  #present(): NatsConnection | null {
    const { connection } = this.#keeper;
    return this.state === 'up' && !connection?.isClosed() ? connection : null;
  }

  #needed(): NatsConnection {
    const connection = this.#present();
    if (connection !== null) return connection;
    throw this.failure ?? failure(`the broker at ${where(this.settings)} is away`);
  }
}

/** Events of a keeper. */
interface KeeperEvents {
  /** Called when there is a connection: a new one, or the same again. */
  up(connection: NatsConnection): void;
  /** Called when it is lost, and the client tries to reconnect. */
  away(error: MillraceError): void;
  /** Called when an attempt failed, and another follows later. */
  failed(error: MillraceError): void;
  /** The client has closed it for good; whatever waits for it waits in vain. */
  over(error: MillraceError): void;
  /** The broker said an error: it refuses us, or one of the things that we do. */
  said(error: Error): void;
}

/** Keeps a connection: tries until there is one, and makes another when the client gives it up. */
class Keeper {
  readonly #settings: BrokerSettings;
  readonly #name: string;
  readonly #events: KeeperEvents;
  #connection: NatsConnection | null = null;
  #attempts = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(settings: BrokerSettings, name: string, events: KeeperEvents) {
    this.#settings = settings;
    this.#name = name;
    this.#events = events;
    void this.#connect();
  }

  /** The present one, which may be away for the moment. */
  get connection(): NatsConnection | null {
    return this.#connection;
  }

  /** Sends what is under way on a connection that is up, for 2 s at most, and ends it. */
  async close(isUp: boolean): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    if (isUp)
      await Promise.race([connection.flush().catch(() => {}), sleep(closeMs, { ref: false })]);
    await connection.close();
  }

  async #connect(): Promise<void> {
    let connection: NatsConnection;
    try {
      connection = await connect(this.#settings, this.#name);
    } catch (error) {
      this.#failed(error instanceof MillraceError ? error : describe(error, this.#settings));
      return;
    }
    const version = connection.info?.version ?? '0.0.0';
    if (this.#isClosed || isOld(version)) {
      await connection.close();
      this.#failed(tooOld(version, this.#settings));
      return;
    }
    this.#connection = connection;
    this.#attempts = 0;
    void this.#watch(connection);
    this.#events.up(connection);
  }

  #failed(error: MillraceError): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#connect(), backOffMs(++this.#attempts));
    this.#events.failed(error);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    const at = where(this.#settings);
    for await (const status of connection.status()) {
      if (this.#isClosed) return;
      if (status.type === 'disconnect') this.#events.away(failure(`the broker at ${at} is away`));
      else if (status.type === 'error') this.#events.said(status.error);
      else if (status.type === 'reconnect') this.#events.up(connection);
    }
    if (this.#isClosed) return;
    this.#connection = null;
    const error = (await connection.closed()) ?? undefined;
    this.#events.over(failure(`the connection to the broker at ${at} ended`, error));
    if (!this.#isClosed) void this.#connect();
  }
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest.major || (major === oldest.major && minor < oldest.minor);
}

/** Beside the payload of a message. */
export interface Arrival {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly headers: MsgHdrs | undefined;
}

/** Ends a subscription, once; with `drain` what is on its way still comes. */
export type Stop = (drain?: 'drain') => void;
export type OnMessage = (payload: Uint8Array, arrival: Arrival) => void;

interface Interest {
  readonly subject: string;
  readonly onMessage: OnMessage;
  subscription: Subscription | null;
  /** Reason why the broker denies the subscription. */
  denial: Error | null;
}

/** The subscriptions of a link. The client keeps them over a reconnect, but for those that the broker has denied. */
class Interests {
  readonly #all = new Set<Interest>();
  #connection: NatsConnection | null = null;
  readonly #onArrival: (bytes: number) => void;

  /** `onArrival` is told of each message before its subscriber. */
  constructor(onArrival: (bytes: number) => void) {
    this.#onArrival = onArrival;
  }

  add(subject: string, onMessage: OnMessage): Stop {
    const interest: Interest = { subject, onMessage, subscription: null, denial: null };
    this.#all.add(interest);
    this.#open(interest);
    return (drain) => {
      if (!this.#all.delete(interest)) return;
      // It rejects when the connection goes away meanwhile, and then nothing comes.
      if (drain) interest.subscription?.drain().catch(() => {});
      else interest.subscription?.unsubscribe();
    };
  }

  /** A connection is there: a new one, or the same again. Opens what is not open on it. */
  openOn(connection: NatsConnection): void {
    const isSame = connection === this.#connection;
    this.#connection = connection;
    for (const interest of this.#all) {
      if (!isSame || interest.subscription?.isClosed()) this.#open(interest);
    }
  }

  /** Returns the reason why a subject cannot be subscribed at present; undefined if none is known. */
  denial(subject: string): Error | undefined {
    for (const each of this.#all) {
      if (each.subject === subject && each.denial !== null) return each.denial;
    }
    return undefined;
  }

  #open(interest: Interest): void {
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    interest.denial = null;
    const callback = (error: Error | null, message: Msg) => {
      if (error !== null) {
        interest.denial = error;
        return;
      }
      this.#onArrival(message.data.length);
      try {
        interest.onMessage(message.data, message as Arrival);
      } catch (thrown) {
        // A subscriber that throws must not stop the reading of the connection.
        throwLater(thrown);
      }
    };
    interest.subscription = connection.subscribe(interest.subject, { callback });
  }
}

const mostProbeBytes = 256 * 1024;

/** Bytes that have left and that the broker has not been seen to take: it is asked now and then how far it has got. */
class Pending {
  readonly most: number;
  /** Bytes that leave before the broker is asked. */
  readonly #probeBytes: number;
  #sent = 0;
  #taken = 0;
  #isProbing = false;
  /** Callers that wait for an answer of the broker. The client leaves them waiting when it is closed. */
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(most: number) {
    this.most = most;
    this.#probeBytes = Math.min(mostProbeBytes, most / 4);
  }

  get bytes(): number {
    return this.#sent - this.#taken;
  }

  /** Reports whether this many more may leave. More than `most` may, once nothing else is under way. */
  fits(bytes: number, connection: NatsConnection): boolean {
    if (this.bytes === 0 || this.bytes + bytes <= this.most) return true;
    this.#probe(connection);
    return false;
  }

  add(bytes: number, connection: NatsConnection): void {
    this.#sent += bytes;
    if (this.bytes >= this.#probeBytes) this.#probe(connection);
  }

  /** Resolves when the broker has read all that was sent before; rejects when the connection goes away meanwhile. */
  async flush(connection: NatsConnection): Promise<void> {
    const upTo = this.#sent;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add(reject);
      connection
        .flush()
        .then(resolve, reject)
        .finally(() => this.#waiting.delete(reject));
    });
    this.#taken = Math.max(this.#taken, upTo);
  }

  /** Forgets pending bytes: they were lost with their connection, or a new one has begun. */
  forget(): void {
    this.#taken = this.#sent;
  }

  /** Rejects whoever waits. */
  end(error: Error): void {
    for (const reject of this.#waiting) reject(error);
    this.#waiting.clear();
  }

  #probe(connection: NatsConnection): void {
    if (this.#isProbing || connection.isClosed()) return;
    this.#isProbing = true;
    this.flush(connection).then(
      () => {
        this.#isProbing = false;
        if (this.bytes >= this.#probeBytes) this.#probe(connection);
      },
      () => {
        this.#isProbing = false;
      },
    );
  }
}
