/**
 * The hold of turns for the broker: how long they wait, so that what further turns bring leaves with them. A queue decides that, by
 * the policy `adaptive`. It gets an event for each record, and what its batch does is that the outboxes leave, so that the costs which
 * it measures are those of their messages. The records stay in the outboxes.
 */
import { unannounced } from '@millrace/base/sources';
import { BatchEmitter, type PushOptions, type QueueStats } from 'millrace';
import type { HoldOptions } from './options.js';

/** Records that end a hold. */
const fullTurn = 1024;
/** A batch has all that is queued, and the queue refuses nothing: what bounds it is the end of a turn. */
const bounds = { maxBatch: 1_000_000, maxQueue: 100_000_000 };
const urgently: PushOptions = { priority: 'high' };
const normally: PushOptions = { priority: 'normal' };

export class TurnHold {
  readonly #queue: BatchEmitter;
  /** Outboxes that have something to send. */
  #waiting = new Set<{ flush(): void }>();

  constructor(options: HoldOptions) {
    const queue = { ...options, ...bounds, threshold: fullTurn, context: 'off' } as const;
    // It is part of the bridge or adapter that has the hold.
    this.#queue = unannounced(() => new BatchEmitter(queue));
    this.#queue.onBatch('record', () => {
      const outboxes = this.#waiting;
      this.#waiting = new Set();
      for (const outbox of outboxes) outbox.flush();
    });
  }

  /** The policy's estimates and its last decision. */
  get policy(): QueueStats['policy'] {
    return this.#queue.stats().policy;
  }

  /** The outbox has a record more; an urgent one leaves at the end of this turn, with all that waits. O(1). */
  added(outbox: { flush(): void }, isUrgent: boolean): void {
    this.#waiting.add(outbox);
    this.#queue.push('record', [], isUrgent ? urgently : normally);
  }

  /** Sends what waits. */
  flush(): void {
    this.#queue.flush();
  }

  /** Sends what waits; nothing is added any more. */
  close(): void {
    this.#queue.close();
  }
}

/** A hold with these options; null where nothing may wait. */
export const turnHold = (options: HoldOptions): TurnHold | null =>
  options.maxDelay > 0 ? new TurnHold(options) : null;
