/**
 * Stores tasks again that a worker has taken: to be tried later, to run alone, for another worker, or as dead letters. The
 * message that they came in is acknowledged after that, so that a task is always in a stream. The id of a message that is
 * stored comes from the one that it is taken from: two workers that have the same message store its tasks once. Storing is
 * tried until it works, or this worker begins to end: then the message is delivered again.
 */

import type { MillraceError } from '@millrace/base/errors';
import { sleep } from '@millrace/base/timers';
import type { WorkerContext } from './context.js';
import type { Delivery, Lease, LeasedTask } from './lease.js';
import { headerRoom, Publisher, type Stored } from './publisher.js';
import { headerNames, type QueueName } from './streams.js';

const timeoutMs = 30_000;
const retryMs = 1000;

export class Requeue {
  readonly #context: WorkerContext;
  readonly #publisher: Publisher;

  constructor(context: WorkerContext) {
    this.#context = context;
    this.#publisher = new Publisher(context.link, timeoutMs);
  }

  set onMissing(onMissing: () => void) {
    this.#publisher.onMissing = onMissing;
  }

  open(): Promise<void> {
    return this.#publisher.open();
  }

  close(): void {
    this.#publisher.close();
  }

  /** A task that has failed, to be tried again after this many ms. False if this worker began to end before it was stored, here and below. */
  again({ lease, record, index }: LeasedTask, failures: number, delayMs: number): Promise<boolean> {
    const subject = this.#context.names.subject(lease.priority);
    return this.#insist(subject, () => lease.packOf([record]), {
      [headerNames.id]: idOf(lease, index),
      [headerNames.deliveries]: String(lease.deliveries),
      [headerNames.failures]: String(failures),
      [headerNames.delay]: String(delayMs),
    });
  }

  /** A task that was with a worker which has ended. */
  alone({ lease, record, index }: LeasedTask): Promise<boolean> {
    const subject = this.#context.names.subject('alone');
    return this.#insist(subject, () => lease.packOf([record]), {
      [headerNames.id]: idOf(lease, index),
      [headerNames.deliveries]: String(lease.deliveries - 1),
      [headerNames.failures]: String(lease.failures),
      [headerNames.priority]: lease.priority,
    });
  }

  /** Tasks that an ending worker has not begun. This is tried once: it rejects as {@link Publisher.store} does. */
  back(lease: Lease): Promise<Stored> {
    const crashes = lease.delivery.count - 1;
    const subject = this.#context.names.subject(lease.queue);
    return this.#publisher.store(subject, lease.packOf(lease.returned), {
      [headerNames.id]: idOf(lease, 'back'),
      [headerNames.deliveries]: String(lease.deliveries - 1),
      // When a task runs alone, each earlier delivery has ended its worker.
      [headerNames.failures]: String(lease.failures + (lease.queue === 'alone' ? crashes : 0)),
      [headerNames.priority]: lease.priority,
    });
  }

  /** A dead letter. */
  dead({ lease, record, index }: LeasedTask, reason: string, error: string): Promise<boolean> {
    const subject = this.#context.names.dead(lease.priority);
    return this.#insist(subject, () => lease.packOf([record]), {
      [headerNames.id]: idOf(lease, index),
      [headerNames.deliveries]: String(lease.deliveries),
      [headerNames.failures]: String(lease.failures + 1),
      [headerNames.reason]: reason,
      [headerNames.error]: error,
    });
  }

  /** A message that is not a batch of tasks, as a dead letter; if it leaves no room for the headers, its beginning. */
  unreadable(queue: QueueName, payload: Uint8Array, { key, count }: Delivery): Promise<boolean> {
    const { link, names } = this.#context;
    // The broker may come back with a lower limit.
    const part = () => payload.subarray(0, link.maxPayload - headerRoom);
    return this.#insist(names.dead(queue), part, {
      [headerNames.id]: `again:${key}.0`,
      [headerNames.deliveries]: String(count),
      [headerNames.reason]: 'unreadable',
      [headerNames.error]: 'it is not a message of durable tasks',
    });
  }

  async #insist(
    subject: string,
    payload: () => Uint8Array,
    headers: Record<string, string>,
  ): Promise<boolean> {
    for (;;) {
      try {
        await this.#publisher.store(subject, payload(), headers);
        return true;
      } catch (error) {
        if (this.#context.isClosing) return false;
        this.#context.emit('down', error as MillraceError);
        await sleep(retryMs);
      }
    }
  }
}

const idOf = ({ delivery }: Lease, what: number | string) => `again:${delivery.key}.${what}`;
