/** Tasks that a worker stores again: to be tried later, alone, by another worker, or as dead letters. */
import { sleep } from '../../core/timers.cjs';
import type { MillraceError } from '../../errors.js';
import type { Delivery } from './delivery.js';
import type { Held, Part } from './held.js';
import { headerNames, type LaneName } from './names.js';
import { headerRoom, Publisher, type Stored } from './publisher.js';
import type { WorkerContext } from './worker-context.js';

const timeoutMs = 30_000;
const retryMs = 1000;

/**
 * Tries until it works; false if the worker began to end before: then the message is delivered again. The id of what is stored
 * comes from the message that it is taken from, so that two workers that have the same message store its tasks once.
 */
export class Store {
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

  /** A task that has failed, to be tried again after this many ms. */
  again({ held, record, index }: Part, failures: number, delayMs: number): Promise<boolean> {
    const subject = this.#context.names.subject(held.priority);
    return this.#insist(subject, () => held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries),
      [headerNames.failures]: String(failures),
      [headerNames.delay]: String(delayMs),
    });
  }

  /** A task that was with a worker which has ended. */
  alone({ held, record, index }: Part): Promise<boolean> {
    const subject = this.#context.names.subject('alone');
    return this.#insist(subject, () => held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries - 1),
      [headerNames.failures]: String(held.failures),
      [headerNames.priority]: held.priority,
    });
  }

  /** What an ending worker has not begun of a message. This is tried once: it rejects as {@link Publisher.store} does. */
  back(held: Held): Promise<Stored> {
    const crashes = held.delivery.count - 1;
    const subject = this.#context.names.subject(held.lane);
    return this.#publisher.store(subject, held.packOf(held.returned), {
      [headerNames.id]: idOf(held, 'back'),
      [headerNames.deliveries]: String(held.deliveries - 1),
      // When a task runs alone, each earlier delivery has ended its worker.
      [headerNames.failures]: String(held.failures + (held.lane === 'alone' ? crashes : 0)),
      [headerNames.priority]: held.priority,
    });
  }

  /** A dead letter. */
  dead({ held, record, index }: Part, reason: string, error: string): Promise<boolean> {
    const subject = this.#context.names.dead(held.priority);
    return this.#insist(subject, () => held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries),
      [headerNames.failures]: String(held.failures + 1),
      [headerNames.reason]: reason,
      [headerNames.error]: error,
    });
  }

  /** A message that is not a batch of tasks; if it leaves no room for the headers, its beginning. */
  unreadable(lane: LaneName, payload: Uint8Array, { key, count }: Delivery): Promise<boolean> {
    const { link, names } = this.#context;
    // The broker may come back with a lower limit.
    const part = () => payload.subarray(0, link.maxPayload - headerRoom);
    return this.#insist(names.dead(lane), part, {
      [headerNames.id]: `again:${key}.0`,
      [headerNames.deliveries]: String(count),
      [headerNames.reason]: 'unreadable',
      [headerNames.error]: 'it is no message of durable tasks',
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
        this.#context.tell('down', error as MillraceError);
        await sleep(retryMs);
      }
    }
  }
}

const idOf = ({ delivery }: Held, what: number | string) => `again:${delivery.key}.${what}`;
