/** Asks the broker for as many tasks as the threads of a worker will do soon. */
import type { Arrival } from '../../broker/link.js';
import { atTurnEnd, onceAt } from '../../core/turn.cjs';
import type { Pool } from '../pool.js';
import { Soon } from './backlog.js';
import type { Holding } from './holding.js';
import { type LaneName, lanes } from './names.js';
import { Puller } from './puller.js';
import type { WorkerContext } from './worker-context.js';

/** What a message goes to, with the lane that it comes from. */
type OnMessage = (lane: LaneName, payload: Uint8Array, arrival: Arrival) => void;

export class Pulling {
  readonly #most: () => number;
  readonly #holding: Holding;
  readonly #pullers = new Map<LaneName, Puller>();
  /** The consumers are there. */
  isOpen = false;
  /** A consumer is missing, or not there yet. */
  onMissing: () => void = () => {};

  constructor(context: WorkerContext, pool: Pool, holding: Holding, onMessage: OnMessage) {
    const { link, names, settings } = context;
    const soon = new Soon(pool, settings.pool.concurrentTasksPerWorker ?? 1);
    this.#most = () => settings.batch ?? soon.tasks;
    this.#holding = holding;
    for (const lane of lanes) {
      const where = { stream: names.stream, consumer: lane, ackWaitMs: settings.ackWait };
      const puller = new Puller(link, where, (payload, arrival) => {
        // Even for one that is not kept: it has used up part of what was asked for.
        this.refillSoon();
        onMessage(lane, payload, arrival);
      });
      puller.onMissing = () => this.onMissing();
      this.#pullers.set(lane, puller);
    }
  }

  start(): void {
    this.isOpen = true;
    this.#refill();
  }

  /** Messages that are on their way still come. */
  stop(): void {
    this.isOpen = false;
    for (const puller of this.#pullers.values()) puller.stop();
  }

  /** At the end of a turn in which tasks have ended. */
  readonly refillSoon = onceAt(atTurnEnd, () => this.#refill());

  #refill(): void {
    if (!this.isOpen) return;
    const most = this.#most();
    for (const [lane, puller] of this.#pullers) {
      // Tasks that may end a process once more run one at a time, so that it is known which one did.
      puller.want(this.#holding.room(lane, lane === 'alone' ? 1 : most));
    }
  }
}
