/** An emitter whose named events are emitted on other nodes too. */
import type { EventEmitter } from 'node:events';
import { announce } from '../core/sources.js';
import { throwLater } from '../core/turn.cjs';
import { MillraceError } from '../errors.js';
import { type BridgeOptions, checkBridge } from './bridge-options.js';
import { decodeEvent, nameOf } from './event-record.js';
import { Link } from './link.js';
import type { LinkStats } from './link-stats.js';
import { Outgoing } from './outgoing.js';
import { Sequences } from './sequences.js';
import { type Tap, tap } from './tap.js';
import { decodeBatch, type WireRecord } from './wire.js';

/** Counters of a bridge. */
export interface BridgeStats {
  /** Events sent, and the batches that carried them: each is one NATS message. */
  sent: number;
  batches: number;
  /** Events that did not leave: the broker was away, or `maxPending` bytes were under way. */
  unsent: number;
  /** Events that cannot be sent: too large, or not cloneable. `onLost` was called. */
  unfit: number;
  /** Events of other nodes that arrived for the emitter. */
  received: number;
  /** Of these, events that the emitter refused: its queue is full, or it is closed. */
  refused: number;
  /** Events of other nodes whose names are not bridged here. */
  ignored: number;
  /** Batches that other nodes sent, or could not send, and that did not arrive here. */
  missed: number;
  /** Messages that were not a batch, and events in batches that cannot be read. */
  malformed: number;
  /** The connection. */
  link: LinkStats;
}

/**
 * Forwards the named events of an emitter to all bridges of the same channel, and emits theirs here; those are not forwarded
 * again. Events of one turn of the loop leave as one message; the order of what a node emits is kept, across names. At most
 * once: while the broker is away, and to a node that is too slow, events are lost and counted; local listeners get
 * all of them. Arguments are cloned as `structuredClone()` does, at the time of `emit()`.
 *
 * Throws MILLRACE_E_INVALID_OPTION for a bad option, and for an event of this emitter that has a bridge already.
 */
export function bridge(emitter: EventEmitter, options: BridgeOptions): Bridge {
  return new Bridge(emitter, options);
}

/** What {@link bridge} returns. */
export class Bridge {
  readonly #names: ReadonlySet<string>;
  readonly #link: Link;
  readonly #subject: string;
  readonly #tap: Tap;
  readonly #outgoing: Outgoing;
  readonly #sequences = new Sequences();
  readonly #counts = { received: 0, refused: 0, ignored: 0, missed: 0, malformed: 0 };
  #isClosed = false;

  /** As {@link bridge}. */
  constructor(emitter: EventEmitter, options: BridgeOptions) {
    checkBridge(emitter, options);
    this.#names = new Set(options.events);
    this.#tap = tap(emitter, [...this.#names], (...event) => this.#outgoing.take(...event));
    try {
      this.#link = new Link(options.broker, 'bridge');
    } catch (error) {
      this.#tap.close();
      throw error;
    }
    this.#subject = this.#link.subject('bridge', options.channel ?? 'events');
    this.#outgoing = new Outgoing(this.#link, this.#subject, options.onLost);
    this.#link.subscribe(this.#subject, (payload) => this.#hear(payload));
    announce('bridge', this as Bridge, (self) => self.stats());
  }

  /**
   * Resolves once events of other nodes are heard here. Rejects with MILLRACE_E_BROKER when the broker does not answer within
   * `connectTimeout`, refuses, or does not permit the subject; attempts go on all the same. There is no need to wait for it.
   */
  async ready(): Promise<this> {
    await this.#link.hears(this.#subject);
    return this;
  }

  /** Counters since the start. */
  stats(): BridgeStats {
    return { ...this.#outgoing.counts, ...this.#counts, link: this.#link.stats() };
  }

  /** Sends what this turn has emitted, and lets go of the emitter. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tap.close();
    this.#outgoing.send();
    await this.#link.close();
  }

  #hear(payload: Uint8Array): void {
    const batch = decodeBatch(payload);
    if (batch === null) {
      this.#counts.malformed++;
      return;
    }
    this.#counts.missed += this.#sequences.missed(batch.sender, batch.sequence);
    for (const record of batch.records) this.#arrived(record);
  }

  #arrived(record: WireRecord): void {
    if (this.#isClosed) return;
    const name = nameOf(record);
    if (name !== null && !this.#names.has(name)) {
      this.#counts.ignored++;
      return;
    }
    const event = name === null ? null : decodeEvent(record);
    if (event === null) {
      this.#counts.malformed++;
      return;
    }
    this.#counts.received++;
    try {
      this.#tap.emit(name!, event.args, event.priority);
    } catch (error) {
      if (isRefusal(error)) this.#counts.refused++;
      // One of the listeners threw: those of the other events still get theirs.
      else throwLater(error);
    }
  }
}

const isRefusal = (error: unknown) =>
  error instanceof MillraceError &&
  ['MILLRACE_E_OVERLOADED', 'MILLRACE_E_CLOSED'].includes(error.code);
