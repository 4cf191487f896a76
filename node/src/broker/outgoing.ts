/** What an emitter emits, on its way to the bridges of other nodes: all of a turn in one message. */
import type { Priority } from '../core/intake/priority.js';
import { atTurnEnd, onceAt, throwLater } from '../core/turn.cjs';
import { MillraceError, show } from '../errors.js';
import type { BridgeOptions } from './bridge-options.js';
import { encodeEvent } from './event-record.js';
import type { Link } from './link.js';
import { batchHead, encodeBatch, recordBytes, type WireRecord } from './wire.js';

export class Outgoing {
  readonly counts = { sent: 0, batches: 0, unsent: 0, unfit: 0 };
  readonly #link: Link;
  readonly #subject: string;
  readonly #onLost: BridgeOptions['onLost'];
  readonly #warned = new Set<string>();
  /** What this turn has emitted. */
  #turn = new Set<WireRecord>();
  #turnBytes = 0;
  /** Some of it was not even attempted. */
  #isGap = false;
  #sequence = 0;
  readonly #sendAtEnd = onceAt(atTurnEnd, () => this.send());

  constructor(link: Link, subject: string, onLost: BridgeOptions['onLost']) {
    this.#link = link;
    this.#subject = subject;
    this.#onLost = onLost;
  }

  /** Takes an event that is emitted now. Returns a function that takes it back, while the turn lasts. */
  take(name: string, args: unknown[], priority: Priority | undefined): () => void {
    this.#sendAtEnd();
    const record = this.#encode(name, args, priority);
    if (record === null) return () => {};
    const bytes = recordBytes(record.data.length);
    if (this.#turnBytes + bytes > this.#room) this.send();
    this.#turn.add(record);
    this.#turnBytes += bytes;
    return () => {
      if (this.#turn.delete(record)) this.#turnBytes -= bytes;
    };
  }

  /** Bytes of records that a message takes. */
  get #room(): number {
    return this.#link.maxPayload - batchHead;
  }

  #encode(name: string, args: unknown[], priority: Priority | undefined): WireRecord | null {
    // Nothing is kept while the broker is away: so nothing is cloned, nor held in memory.
    if (this.#link.state !== 'up') {
      this.counts.unsent++;
      this.#isGap = true;
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
    if (bytes <= this.#room) return record;
    const why = `an event ${show(name)} of ${bytes} bytes is above the broker's limit of ${this.#room}; it was emitted here alone; send less at once, or raise max_payload of nats-server`;
    this.#unfit(new MillraceError('MILLRACE_E_TOO_LARGE', why), name, args);
    return null;
  }

  #unfit(error: MillraceError, name: string, args: unknown[]): void {
    this.counts.unfit++;
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

  /** Sends what this turn has emitted so far. */
  send(): void {
    // By this others see that something is missing, as soon as they hear more.
    if (this.#isGap) this.#sequence++;
    this.#isGap = false;
    if (this.#turn.size === 0) return;
    const records = [...this.#turn];
    this.#turn.clear();
    this.#turnBytes = 0;
    this.#sequence++;
    if (this.#publish(encodeBatch(this.#link.node, this.#sequence, records))) {
      this.counts.batches++;
      this.counts.sent += records.length;
    } else {
      this.counts.unsent += records.length;
    }
  }

  #publish(batch: Uint8Array): boolean {
    try {
      return this.#link.publish(this.#subject, batch);
    } catch {
      // The broker has come back with a lower limit since the events were measured.
      return false;
    }
  }
}
