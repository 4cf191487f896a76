/**
 * A link to the broker: one object's share of a connection. It has a name of its own among the nodes, its own
 * subscriptions, which stay over reconnects, and an end of its own; the connection belongs to all links of the process with the
 * same settings and other areas of subjects (`connection.ts`).
 */
import { EventEmitter } from 'node:events';
import { MillraceError } from '@millrace/base/errors';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { nextMicrotask, throwLater } from '@millrace/base/turn';
import type { MsgHdrs } from './client-types.js';
import { failure, isLasting, where } from './connect.js';
import { Connection, type OnMessage, type Stop, type User } from './connection.js';
import type { Streams } from './jetstream.js';
import {
  type BrokerOptions,
  type BrokerSettings,
  brokerSettings,
  type LinkState,
  type LinkStats,
} from './options.js';
import { newNode, token } from './wire.js';

export type { Arrival } from './connection.js';

interface LinkEvents {
  up: [];
  down: [error: MillraceError];
  close: [];
}

/**
 * Connects at once and goes on trying, with back-off, until `close()`. Emits 'up', 'down' (also for each attempt that
 * fails while there is no connection) and 'close'. Messages leave at the end of the microtask queue, those of one turn in
 * one write. While the broker is away nothing is kept: whatever must not be lost is kept by its sender.
 */
export class Link extends EventEmitter<LinkEvents> {
  readonly node: string;
  readonly #settings: BrokerSettings;
  readonly #connection: Connection;
  readonly #user: User;
  #state: LinkState = 'connecting';
  /** Callers that wait in `ready()`. */
  readonly #waiting = new Set<() => void>();
  /** Rejects a `flush()`. */
  readonly #flushing = new Set<(error: Error) => void>();
  readonly #stops = new Set<Stop>();

  /** `area` is that of its subjects: links of the same area do not share a connection. Throws MILLRACE_E_INVALID_OPTION. */
  constructor(options: string | BrokerOptions, area: string, node = newNode()) {
    super();
    this.node = node;
    this.#settings = brokerSettings(options);
    this.#user = {
      area,
      up: () => this.#up(),
      down: (error) => this.#down(error),
      changed: () => this.#changed(),
    };
    this.#connection = Connection.acquire(this.#settings, this.#user);
    // Others have connected it already.
    if (this.#connection.state === 'up') {
      nextMicrotask(() => {
        if (this.#connection.state === 'up') this.#up();
      });
    }
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
    return this.#connection.maxPayload;
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
        const error = this.#connection.failure;
        if (this.#state === 'up') settle(() => resolve(this));
        else if (this.#state === 'closed') settle(() => reject(this.#closed()));
        else if (error !== null && isLasting(error)) settle(() => reject(error));
      };
      const timer = setTimeout(() => {
        const late = failure(`the broker at ${this.address} does not answer`);
        settle(() => reject(this.#connection.failure ?? late));
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
    if (this.#state === 'closed') return false;
    return this.#connection.publish(subject, payload, options);
  }

  /**
   * Hears a subject, now and after each reconnect, until the function that it returns is called, or the link is closed. `*`
   * and `>` stand for one and for any number of tokens. What `onMessage` throws is an uncaught exception; the connection goes
   * on. Called with `drain`, that function lets what is on its way still come.
   */
  subscribe(subject: string, onMessage: OnMessage): Stop {
    if (this.#state === 'closed') return () => {};
    const end = this.#connection.subscribe(subject, onMessage);
    const stop: Stop = (drain) => {
      this.#stops.delete(stop);
      end(drain);
    };
    this.#stops.add(stop);
    return stop;
  }

  /** Resolves once a subscribed subject is heard. Rejects with MILLRACE_E_BROKER when it is not permitted, and as `ready()` and `flush()`. */
  async hears(subject: string): Promise<void> {
    await this.ready();
    // The broker takes the subscription, or denies it, before it answers this.
    await this.flush();
    const denial = this.#connection.denial(subject);
    if (denial !== undefined) throw denial;
  }

  /** The streams of the broker. Rejects with MILLRACE_E_BROKER when it is away, or has JetStream switched off. */
  async jetstream(): Promise<Streams> {
    await this.ready();
    return await this.#connection.jetstream();
  }

  /** Resolves when the broker has taken all that was sent before; rejects with MILLRACE_E_BROKER when it goes away meanwhile, with MILLRACE_E_CLOSED when `close()` comes first. */
  async flush(): Promise<void> {
    if (this.#state === 'closed') throw this.#closed();
    await new Promise<void>((resolve, reject) => {
      this.#flushing.add(reject);
      this.#connection
        .flush()
        .then(resolve, reject)
        .finally(() => this.#flushing.delete(reject));
    });
  }

  /** Sends what is under way, for 2 s at most, and ends. Idempotent. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#tell('close');
    for (const stop of this.#stops) stop();
    await this.#connection.release(this.#user);
    for (const reject of this.#flushing) reject(this.#closed());
  }

  /** Counters of the connection, with the state of this link. */
  stats(): LinkStats {
    return this.#connection.stats(this.#state);
  }

  #up(): void {
    if (this.#state === 'closed' || this.#state === 'up') return;
    this.#state = 'up';
    this.#tell('up');
  }

  #down(error: MillraceError): void {
    if (this.#state === 'closed') return;
    if (this.#state === 'up') this.#state = 'down';
    this.#tell('down', error);
  }

  #changed(): void {
    for (const onChange of this.#waiting) onChange();
  }

  /** A listener that throws must not stop the connection. */
  #tell(...event: ['up'] | ['down', MillraceError] | ['close']): void {
    this.#changed();
    try {
      this.emit(...(event as ['up']));
    } catch (error) {
      throwLater(error);
    }
  }

  #closed(): MillraceError {
    return new MillraceError('MILLRACE_E_CLOSED', `the connection to ${this.address} is closed`);
  }
}
