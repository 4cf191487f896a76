/**
 * The bridge: an emitter whose named events are emitted on other nodes too.
 *
 * The tap sees each event before its listeners do. It is encoded at once, since the application may change the arguments
 * later, and leaves with its turn; what throws or is cancelled meanwhile is taken back. While the broker is away nothing is
 * encoded and nothing is kept: local listeners get all events, other nodes see that they missed some. What another node sends
 * is emitted past the tap, so it is not sent again. An event that cannot be sent at all, whatever the state of the broker, is
 * reported by `onLost`. Each event goes on by itself: a listener that throws does not stop the others.
 */
import { EventEmitter } from 'node:events';
import { MillraceError, show } from '@millrace/base/errors';
import { parse, refused } from '@millrace/base/options';
import { patchMethod } from '@millrace/base/patch';
import * as is from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import { throwLater } from '@millrace/base/turn';
import {
  BatchEmitter,
  type Priority,
  type PushedEvent,
  type PushOptions,
  type QueueStats,
} from 'millrace';
import { Heard } from '../gaps.js';
import { Link } from '../link.js';
import {
  type BrokerOptions,
  brokerField,
  type HoldOptions,
  holdFields,
  type LinkStats,
} from '../options.js';
import { type TurnHold, turnHold } from '../turn-hold.js';
import { TurnOutbox } from '../turn-outbox.js';
import { batchHead, recordBytes, type WireRecord } from '../wire.js';
import { decodeEvent, encodeEvent, maxNameBytes, nameOf } from './record.js';

/** Options of {@link bridge}. */
export interface BridgeOptions extends Partial<HoldOptions> {
  /** URL such as `nats://127.0.0.1:4222`, or options of the connection. */
  broker: string | BrokerOptions;
  /** Names of the bridged events: 1 or more, of 1 to 255 bytes each. All others stay local. */
  events: readonly string[];
  /** Channel of the bridge: any string. Bridges of the same channel and namespace exchange events. Default: 'events'. */
  channel?: string;
  /**
   * Called for each event that was emitted here and cannot be sent, whatever the state of the broker: MILLRACE_E_TOO_LARGE, or
   * MILLRACE_E_INVALID_ARGUMENT when an argument cannot be cloned. Default: a process warning, once for each name and code.
   */
  onLost?: (error: MillraceError, name: string, args: unknown[]) => void;
}

/** Counters of a bridge. */
export interface BridgeStats {
  /** Events sent, and the batches that carried them: each is one NATS message. */
  sent: number;
  batches: number;
  /** Events not sent: the broker was away, or `maxPending` bytes were pending. */
  unsent: number;
  /** Events that cannot be sent: too large, or not cloneable. `onLost` was called. */
  unfit: number;
  /** Events of other nodes that arrived for the emitter. */
  received: number;
  /** Number of these that the emitter refused: its queue is full, or it is closed. */
  refused: number;
  /** Events of other nodes whose names are not bridged here. */
  ignored: number;
  /** Batches of other nodes that did not arrive here, sent or not. */
  missed: number;
  /** Messages that were not a batch, and events in batches that cannot be read. */
  malformed: number;
  /** Policy of the hold: its estimates, the chosen hold, and the reason if there is none; null without `maxDelay`. */
  policy: QueueStats['policy'] | null;
  /** Counters of the connection. */
  link: LinkStats;
}

/**
 * Forwards the named events of an emitter to all bridges of the same channel, and emits their events here, without forwarding
 * them again. Events of one turn of the loop leave as one message, and those of several turns where `maxDelay` allows it and
 * it pays; events pushed with priority `high` do not wait. The order of a node's events is kept, across names. At most once:
 * while the broker is away, and to a node that is too slow, events are lost and counted; local listeners get all of them.
 * Arguments are cloned as `structuredClone()` does, at the time of `emit()`.
 *
 * Throws MILLRACE_E_INVALID_OPTION for a bad option, and for an event of this emitter that has a bridge already.
 */
export function bridge(emitter: EventEmitter, options: BridgeOptions): Bridge {
  return new Bridge(emitter, options);
}

/** An open bridge, as {@link bridge} returns it. */
export class Bridge {
  readonly #names: ReadonlySet<string>;
  readonly #link: Link;
  readonly #subject: string;
  readonly #tap: Tap;
  readonly #hold: TurnHold | null;
  readonly #outbox: TurnOutbox;
  readonly #onLost: BridgeOptions['onLost'];
  readonly #warned = new Set<string>();
  readonly #counts = {
    ...{ sent: 0, batches: 0, unsent: 0, unfit: 0 },
    ...{ received: 0, refused: 0, ignored: 0, missed: 0, malformed: 0, duplicates: 0 },
  };
  #isClosed = false;

  /** Creates a bridge, as {@link bridge}. */
  constructor(emitter: EventEmitter, options: BridgeOptions) {
    const { broker, events, channel, onLost, ...holdOptions } = bridgeSettings(emitter, options);
    this.#names = new Set(events);
    this.#onLost = onLost;
    this.#tap = tap(emitter, [...this.#names], (...event) => this.#emitted(...event));
    try {
      this.#link = new Link(broker, 'bridge');
    } catch (error) {
      this.#tap.close();
      throw error;
    }
    this.#subject = this.#link.subject('bridge', channel);
    this.#hold = turnHold(holdOptions);
    this.#outbox = new TurnOutbox(this.#link, {
      hold: this.#hold,
      unit: 'batch',
      onSent: (records, isSent) => {
        if (isSent) this.#counts.batches++;
        this.#counts[isSent ? 'sent' : 'unsent'] += records;
      },
    });
    new Heard(this.#link, this.#subject, 'batch', this.#counts, ({ records }) => {
      for (const record of records) this.#arrived(record);
    });
    announce('bridge', this as Bridge, (self) => self.stats());
  }

  /**
   * Resolves once events of other nodes arrive here. Rejects with MILLRACE_E_BROKER when the broker does not answer within
   * `connectTimeout`, refuses, or does not permit the subject; attempts go on all the same. There is no need to wait for it.
   */
  async ready(): Promise<this> {
    await this.#link.hears(this.#subject);
    return this;
  }

  /** Counters since the start. */
  stats(): BridgeStats {
    const { duplicates: _, ...counts } = this.#counts;
    return { ...counts, policy: this.#hold?.policy ?? null, link: this.#link.stats() };
  }

  /** Sends the events of this turn, and detaches from the emitter. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#tap.close();
    this.#hold?.close();
    this.#outbox.flush();
    await this.#link.close();
  }

  /** Takes an event that is emitted now. Returns a function that takes it back, while the turn lasts. */
  #emitted(name: string, args: unknown[], priority: Priority | undefined): () => void {
    const record = this.#encode(name, args, priority);
    // Encoding reads the arguments, which may do anything.
    if (record === null || this.#isClosed) return () => {};
    this.#outbox.add(this.#subject, record, priority === 'high');
    return () => void this.#outbox.takeBack(this.#subject, record);
  }

  #encode(name: string, args: unknown[], priority: Priority | undefined): WireRecord | null {
    // Nothing is kept while the broker is away: so nothing is cloned, nor held in memory.
    if (this.#link.state !== 'up') {
      this.#counts.unsent++;
      this.#outbox.skip(this.#subject);
      return null;
    }
    let record: WireRecord;
    try {
      record = encodeEvent(name, args, priority);
    } catch (error) {
      const why = `the arguments of the event ${show(name)} cannot be cloned: ${(error as Error).message}; it was emitted here alone`;
      this.#unfit(
        new MillraceError('MILLRACE_E_INVALID_ARGUMENT', why, { cause: error }),
        name,
        args,
      );
      return null;
    }
    const bytes = recordBytes(record.data.length);
    const room = this.#link.maxPayload - batchHead;
    if (bytes <= room) return record;
    const why = `an event ${show(name)} of ${bytes} bytes is above the broker's limit of ${room}; it was emitted here alone; send less at once, or raise max_payload of nats-server`;
    this.#unfit(new MillraceError('MILLRACE_E_TOO_LARGE', why), name, args);
    return null;
  }

  #unfit(error: MillraceError, name: string, args: unknown[]): void {
    this.#counts.unfit++;
    if (this.#onLost !== undefined) {
      try {
        this.#onLost(error, name, args);
      } catch (thrown) {
        throwLater(thrown);
      }
      return;
    }
    const key = `${name} ${error.code}`;
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    process.emitWarning(`${error.message} (further ones are counted in stats())`, {
      type: 'MillraceWarning',
      code: error.code,
    });
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

/** Events that node:events emits itself, or treats in its own way. */
const localNames: readonly unknown[] = ['error', 'newListener', 'removeListener'];

const nameField = is.custom<string>(
  `a name of 1 to ${maxNameBytes} bytes of UTF-8; 'error' and what node:events emits itself stay local`,
  (value) => !localNames.includes(value) && isFit(value),
);

function isFit(name: unknown): boolean {
  const bytes = typeof name === 'string' ? Buffer.from(name) : null;
  // A lone surrogate would arrive as another name.
  return (
    bytes !== null && bytes.length > 0 && bytes.length <= maxNameBytes && bytes.toString() === name
  );
}

export const bridgeSchema = is.schema({
  broker: brokerField,
  events: is.required(is.list(nameField, "an array of one name or more, as in ['message']", 1)),
  channel: is.or(is.text(), 'events'),
  onLost: is.callback(),
  ...holdFields,
} satisfies is.FieldsOf<BridgeOptions>);

/** The options with their defaults. Throws MILLRACE_E_INVALID_OPTION, also for anything but an emitter. */
function bridgeSettings(emitter: EventEmitter, options: BridgeOptions) {
  const settings = parse('bridge()', options, bridgeSchema);
  if (emitter instanceof EventEmitter) return settings;
  throw refused('bridge()', 'emitter', emitter, 'a BatchEmitter or an EventEmitter');
}

// ---- the tap: sees what an emitter emits under some names, and emits on it without being seen

type Emit = (name: string | symbol, ...args: unknown[]) => boolean;
type Push = (name: string | symbol, args: unknown[], options?: PushOptions) => PushedEvent;

/** An event as it is emitted; the priority is that of its `push()`, if it was given one. Returns a function that takes it back. */
type OnEmit = (name: string, args: unknown[], priority: Priority | undefined) => () => void;

interface Tapped {
  readonly names: Map<string | symbol, OnEmit>;
  readonly emit: Emit;
  readonly push: Push | undefined;
}

const tapped = new WeakMap<EventEmitter, Tapped>();

/** Ends of a tap. */
interface Tap {
  /** Emits by the emitter's own `emit()`, or `push()` if there is a priority and the emitter has classes. */
  emit(name: string, args: unknown[], priority: Priority | undefined): void;
  close(): void;
}

/**
 * Calls `onEmit` for each event of these names, before its listeners. It is taken back when `emit()` or `push()` throws, and
 * when it is cancelled. Throws MILLRACE_E_INVALID_OPTION for a name that has a tap already.
 */
function tap(emitter: EventEmitter, names: readonly string[], onEmit: OnEmit): Tap {
  const known = tapped.get(emitter);
  for (const name of names) {
    if (known?.names.has(name)) {
      throw refused('bridge()', 'events', name, 'without a bridge yet: close that one first');
    }
  }
  const of = known ?? open(emitter);
  for (const name of names) of.names.set(name, onEmit);
  return {
    emit(name, args, priority) {
      if (priority === undefined || of.push === undefined) of.emit.call(emitter, name, ...args);
      else of.push.call(emitter, name, args, { priority });
    },
    close() {
      for (const name of names) of.names.delete(name);
    },
  };
}

/** Puts itself before the emitter's methods, once and for good: without names it passes everything on. */
function open(emitter: EventEmitter): Tapped {
  const { emit, push } = emitter as unknown as { emit: Emit; push?: Push };
  const names = new Map<string | symbol, OnEmit>();
  const ownEmit: Emit = (name, ...args) => {
    const takeBack = names.get(name)?.(name as string, args, undefined);
    return orBack(takeBack, () => emit.call(emitter, name, ...args));
  };
  const ownPush: Push = (name, args, options) => {
    const onEmit = Array.isArray(args) ? names.get(name) : undefined;
    const takeBack = onEmit?.(name as string, args, options?.priority);
    const pushed = orBack(takeBack, () => push!.call(emitter, name, args, options));
    if (takeBack === undefined) return pushed;
    const cancel = () => {
      const isCancelled = pushed.cancel();
      if (isCancelled) takeBack();
      return isCancelled;
    };
    return { ...pushed, cancel };
  };
  patchMethod(emitter, 'emit', () => ownEmit);
  // Streams have a push() of another kind.
  const isBatched = emitter instanceof BatchEmitter;
  if (isBatched) patchMethod(emitter, 'push', () => ownPush);
  const of = { names, emit, push: isBatched ? push : undefined };
  tapped.set(emitter, of);
  return of;
}

function orBack<Result>(takeBack: (() => void) | undefined, go: () => Result): Result {
  try {
    return go();
  } catch (error) {
    takeBack?.();
    throw error;
  }
}
