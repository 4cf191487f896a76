/** Decides what a worker does with a message that comes: keep and run it, take it apart, or pass it on. */
import type { Arrival } from '../../broker/link.js';
import { decodeBatch } from '../../broker/wire.js';
import { MillraceError } from '../../errors.js';
import type { Acks } from './acks.js';
import { type Delivery, deliveryOf } from './delivery.js';
import { Held } from './held.js';
import type { Holding } from './holding.js';
import type { LaneName } from './names.js';
import type { Outcomes } from './outcomes.js';
import { taskOf } from './results.js';
import type { Running } from './running.js';
import type { Store } from './store.js';
import type { WorkerContext } from './worker-context.js';

/** Where a message may go. */
interface Ways {
  readonly acks: Acks;
  readonly store: Store;
  readonly holding: Holding;
  readonly outcomes: Outcomes;
  readonly running: Running;
}

export class Arrivals {
  readonly #context: WorkerContext;
  readonly #ways: Ways;

  constructor(context: WorkerContext, ways: Ways) {
    this.#context = context;
    this.#ways = ways;
  }

  arrived(lane: LaneName, payload: Uint8Array, { reply, headers }: Arrival): void {
    const { acks, holding, running } = this.#ways;
    const delivery = deliveryOf(reply);
    if (delivery === null || reply === undefined) return;
    if (holding.isRepeated(delivery, reply)) return;
    const batch = decodeBatch(payload);
    if (batch === null) {
      void this.#buryUnreadable(lane, payload, delivery, reply);
      return;
    }
    const held = new Held(lane, delivery, batch, reply, payload.length, headers);
    if (held.hasToWait) acks.nak(reply, held.delayMs);
    else if (this.#context.isClosing) this.#refuse(held);
    else {
      holding.hold(held);
      if (lane === 'alone') this.#runAlone(held);
      else if (held.isSuspect) this.#takeApart(held);
      else running.run(held);
    }
  }

  /** It was on its way as this worker began to end. */
  #refuse(held: Held): void {
    const { acks, holding } = this.#ways;
    const { records } = held.batch;
    if (held.isSuspect || records.length === 0) {
      acks.nak(held.reply, 0);
      return;
    }
    holding.hold(held);
    holding.giveBack(held, records);
  }

  /** What no worker has said anything about: each task becomes a message of its own, which runs when nothing else of its kind does. */
  #takeApart(held: Held): void {
    const { store, holding } = this.#ways;
    this.#context.counts.suspects++;
    for (const part of held.parts()) {
      void store.alone(part).then((isStored) => isStored && holding.settle(held));
    }
  }

  /** Each time that it was delivered before, it was the only one of its kind on a worker that then ended. */
  #runAlone(held: Held): void {
    const { outcomes, running } = this.#ways;
    const crashes = held.delivery.count - 1;
    const task = taskOf(held.batch.records[0]);
    const most = (task?.attempts || this.#context.settings.attempts) - held.failures;
    if (crashes < most) {
      running.run(held);
      return;
    }
    const error = new MillraceError(
      'MILLRACE_E_WORKER',
      `the process of the worker ended each of ${crashes} times that the task ran alone`,
    );
    for (const part of held.parts()) void outcomes.bury(part, 'worker', error);
  }

  async #buryUnreadable(
    lane: LaneName,
    payload: Uint8Array,
    delivery: Delivery,
    reply: string,
  ): Promise<void> {
    const { acks, store } = this.#ways;
    if (!(await store.unreadable(lane, payload, delivery))) return;
    this.#context.counts.dead++;
    acks.ack(reply);
  }
}
