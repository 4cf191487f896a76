/** A connection of one object to the broker: it comes and goes, and what is subscribed stays subscribed. */
import { EventEmitter } from 'node:events';
import { announce } from '../core/sources.js';
import { clearTimeout, setTimeout } from '../core/timers.cjs';
import { throwLater } from '../core/turn.cjs';
import { MillraceError } from '../errors.js';
import type { MsgHdrs, NatsConnection } from './client-types.js';
import { Denials } from './denials.js';
import { denied, describe, failure, isDenial, isLasting, tooLarge, where } from './failure.js';
import { Interests, type OnMessage } from './interests.js';
import { openStreams, type Streams } from './jetstream.js';
import { Keeper } from './keeper.js';
import type { LinkState, LinkStats } from './link-stats.js';
import { type BrokerOptions, type BrokerSettings, brokerSettings } from './options.js';
import { Pending } from './pending.js';
import { token } from './subject.js';
import { newNode } from './wire.js';

export type { Arrival } from './interests.js';

interface LinkEvents {
  up: [];
  down: [error: MillraceError];
  close: [];
}

const defaultMaxPayload = 1024 * 1024;

/**
 * Connects at once and goes on trying, with back-off, until `close()`. Emits 'up', 'down' (also for each attempt that
 * fails while there is no connection) and 'close'. Messages leave at the end of the microtask queue, those of one turn in
 * one write. While the broker is away nothing is kept: whatever must not be lost is kept by its sender.
 */
export class Link extends EventEmitter<LinkEvents> {
  readonly node: string = newNode();
  readonly #settings: BrokerSettings;
  readonly #keeper: Keeper;
  readonly #interests: Interests;
  readonly #pending: Pending;
  readonly #denials: Denials;
  readonly #stats = {
    sent: 0,
    sentBytes: 0,
    received: 0,
    receivedBytes: 0,
    unsent: { away: 0, full: 0 },
    reconnects: 0,
  };
  #state: LinkState = 'connecting';
  /** Why there is no connection now. */
  #failure: MillraceError | null = null;
  /** Those that wait in `ready()`. */
  readonly #waiting = new Set<() => void>();
  #streams: Promise<Streams> | null = null;

  /** `role` is for the broker's monitoring: 'rooms', 'tasks'. Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: string | BrokerOptions, role: string) {
    super();
    this.#settings = brokerSettings(options);
    this.#pending = new Pending(this.#settings.maxPending);
    this.#denials = new Denials(this.#settings);
    this.#interests = new Interests((bytes) => {
      this.#stats.received++;
      this.#stats.receivedBytes += bytes;
    });
    const name = this.#settings.name ?? `millrace ${role} ${process.pid}`;
    this.#keeper = new Keeper(this.#settings, name, {
      up: (connection) => this.#up(connection),
      away: (error) => this.#away(error),
      failed: (error) => this.#down(error),
      over: (error) => this.#over(error),
      said: (error) => this.#said(error),
    });
    announce('broker', this as Link, (link) => link.stats());
  }

  get state(): LinkState {
    return this.#state;
  }

  get namespace(): string {
    return this.#settings.namespace;
  }

  /** The address of the broker, without credentials: for messages. */
  get address(): string {
    return where(this.#settings);
  }

  /** Bytes that a message may have, including its headers; 1 MiB until the broker has said. */
  get maxPayload(): number {
    return this.#keeper.connection?.info?.max_payload ?? defaultMaxPayload;
  }

  /** Bytes that may be under way to the broker, as the option says. */
  get maxPending(): number {
    return this.#settings.maxPending;
  }

  /** The namespace, and after it each part as a token of its own. */
  subject(...parts: string[]): string {
    return [this.namespace, ...parts.map(token)].join('.');
  }

  /**
   * Resolves once it is connected. Rejects with MILLRACE_E_BROKER after `connectTimeout`, or at once when trying again
   * would not help soon (credentials, version, packages that are missing); attempts go on all the same.
   */
  ready(): Promise<this> {
    if (this.#state === 'up') return Promise.resolve(this);
    if (this.#state === 'closed') return Promise.reject(this.#closed());
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        this.#waiting.delete(onChange);
        end();
      };
      const onChange = () => {
        const error = this.#failure;
        if (this.#state === 'up') settle(() => resolve(this));
        else if (this.#state === 'closed') settle(() => reject(this.#closed()));
        else if (error !== null && isLasting(error)) settle(() => reject(error));
      };
      const timer = setTimeout(() => {
        const late = failure(`the broker at ${this.address} does not answer`);
        settle(() => reject(this.#failure ?? late));
      }, this.#settings.connectTimeout);
      this.#waiting.add(onChange);
      onChange();
    });
  }

  /**
   * Sends a message, or returns false: while the broker is away, and while `maxPending` bytes are under way. Both are
   * counted. What is above `maxPayload` throws MILLRACE_E_TOO_LARGE. The bytes must not change before the turn ends.
   */
  publish(
    subject: string,
    payload: Uint8Array,
    options: { reply?: string; headers?: MsgHdrs } = {},
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

  /**
   * Hears a subject, now and after each reconnect, until the function that it returns is called. `*` and `>` stand for one
   * and for any number of tokens. What `onMessage` throws is an uncaught exception; the connection goes on. Called with `drain`, that
   * function lets what is on its way still come.
   */
  subscribe(subject: string, onMessage: OnMessage): (drain?: 'drain') => void {
    return this.#interests.add(subject, onMessage);
  }

  /** Resolves once a subscribed subject is heard. Rejects with MILLRACE_E_BROKER when it is not permitted, and as `ready()` and `flush()`. */
  async hears(subject: string): Promise<void> {
    await this.ready();
    // The broker takes the subscription, or denies it, before it answers this.
    await this.flush();
    const denial = this.#interests.denial(subject);
    if (denial !== undefined) throw denied(denial, this.#settings);
  }

  /** The streams of the broker. Rejects with MILLRACE_E_BROKER when it is away, or has JetStream switched off. */
  async jetstream(): Promise<Streams> {
    await this.ready();
    this.#streams ??= openStreams(this.#needed(), this.address);
    const streams = this.#streams;
    try {
      return await streams;
    } catch (error) {
      if (this.#streams === streams) this.#streams = null;
      throw error;
    }
  }

  /** Resolves when the broker has taken all that was sent before; rejects with MILLRACE_E_BROKER when it goes away meanwhile, with MILLRACE_E_CLOSED when `close()` comes first. */
  async flush(): Promise<void> {
    const connection = this.#needed();
    try {
      await this.#pending.flush(connection);
    } catch (error) {
      if (error instanceof MillraceError) throw error;
      throw failure(`the broker at ${this.address} went away`, error);
    }
  }

  /** Sends what is under way, for 2 s at most, and ends. Idempotent. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    const wasUp = this.#state === 'up';
    this.#state = 'closed';
    this.#tell('close');
    await this.#keeper.close(wasUp);
    this.#pending.end(this.#closed());
  }

  stats(): LinkStats {
    const { unsent, ...counts } = this.#stats;
    const pendingBytes = this.#pending.bytes;
    return {
      state: this.#state,
      ...counts,
      unsent: { ...unsent },
      denied: this.#denials.counts,
      pendingBytes,
    };
  }

  #up(connection: NatsConnection): void {
    if (this.#state === 'down') this.#stats.reconnects++;
    this.#state = 'up';
    this.#failure = null;
    this.#pending.forget();
    this.#interests.openOn(connection);
    this.#tell('up');
  }

  #away(error: MillraceError): void {
    // The error that ends an attempt says less than what the broker said during it.
    if (this.#state === 'up') this.#down(error);
  }

  #over(error: MillraceError): void {
    this.#streams = null;
    this.#pending.end(error);
    this.#away(error);
  }

  #down(error: MillraceError): void {
    this.#failure = error;
    if (this.#state === 'up') this.#state = 'down';
    this.#tell('down', error);
  }

  #said(error: Error): void {
    if (isDenial(error)) {
      this.#denials.add(error);
      return;
    }
    this.#failure = describe(error, this.#settings);
    for (const onChange of this.#waiting) onChange();
  }

  /** A listener that throws must not stop the connection. */
  #tell(...event: ['up'] | ['down', MillraceError] | ['close']): void {
    for (const onChange of this.#waiting) onChange();
    try {
      this.emit(...(event as ['up']));
    } catch (error) {
      throwLater(error);
    }
  }

  #present(): NatsConnection | null {
    const { connection } = this.#keeper;
    return this.#state === 'up' && !connection?.isClosed() ? connection : null;
  }

  #needed(): NatsConnection {
    const connection = this.#present();
    if (connection !== null) return connection;
    if (this.#state === 'closed') throw this.#closed();
    throw this.#failure ?? failure(`the broker at ${this.address} is away`);
  }

  #closed(): MillraceError {
    return new MillraceError('MILLRACE_E_CLOSED', `the connection to ${this.address} is closed`);
  }
}
