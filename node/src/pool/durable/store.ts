/** Tasks that a worker stores again: to be tried later, alone, by another worker, or as dead letters. */
import type { Link } from '../../broker/link.js';
import type { WireRecord } from '../../broker/wire.js';
import type { Delivery } from './delivery.js';
import type { Held } from './held.js';
import { headerNames, type LaneName, type TaskNames } from './names.js';
import { headerRoom, Publisher, type Stored } from './publisher.js';

const timeoutMs = 30_000;

/**
 * Each rejects as {@link Publisher.store} does. The id of what is stored comes from the message that it is taken from, so that
 * two workers that have the same message store its tasks once.
 */
export class Store {
  readonly #link: Link;
  readonly #names: TaskNames;
  readonly #publisher: Publisher;

  constructor(link: Link, names: TaskNames) {
    this.#link = link;
    this.#names = names;
    this.#publisher = new Publisher(link, timeoutMs);
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

  /** A task that has failed, for after so many ms. */
  again(
    held: Held,
    record: WireRecord,
    index: number,
    failures: number,
    delayMs: number,
  ): Promise<Stored> {
    return this.#store(this.#names.subject(held.priority), held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries),
      [headerNames.failures]: String(failures),
      [headerNames.delay]: String(delayMs),
    });
  }

  /** A task that was with a worker which has ended. */
  alone(held: Held, record: WireRecord, index: number): Promise<Stored> {
    return this.#store(this.#names.subject('alone'), held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries - 1),
      [headerNames.failures]: String(held.failures),
      [headerNames.priority]: held.priority,
    });
  }

  /** What a worker that ends has not begun of a message. */
  back(held: Held): Promise<Stored> {
    const crashes = held.delivery.count - 1;
    return this.#store(this.#names.subject(held.lane), held.packOf(held.returned), {
      [headerNames.id]: idOf(held, 'back'),
      [headerNames.deliveries]: String(held.deliveries - 1),
      // Of a task that runs alone each earlier delivery has ended its worker.
      [headerNames.failures]: String(held.failures + (held.lane === 'alone' ? crashes : 0)),
      [headerNames.priority]: held.priority,
    });
  }

  /** A dead letter. */
  dead(
    held: Held,
    record: WireRecord,
    index: number,
    reason: string,
    error: string,
  ): Promise<Stored> {
    return this.#store(this.#names.dead(held.priority), held.packOf([record]), {
      [headerNames.id]: idOf(held, index),
      [headerNames.deliveries]: String(held.deliveries),
      [headerNames.failures]: String(held.failures + 1),
      [headerNames.reason]: reason,
      [headerNames.error]: error,
    });
  }

  /** A message that is no batch of tasks; the beginning of one that leaves no room for the headers. */
  unreadable(lane: LaneName, payload: Uint8Array, { key, count }: Delivery): Promise<Stored> {
    const part = payload.subarray(0, this.#link.maxPayload - headerRoom);
    return this.#store(this.#names.dead(lane), part, {
      [headerNames.id]: `again:${key}.0`,
      [headerNames.deliveries]: String(count),
      [headerNames.reason]: 'unreadable',
      [headerNames.error]: 'it is no message of durable tasks',
    });
  }

  #store(subject: string, payload: Uint8Array, headers: Record<string, string>): Promise<Stored> {
    return this.#publisher.store(subject, payload, headers);
  }
}

const idOf = ({ delivery }: Held, what: number | string) => `again:${delivery.key}.${what}`;
