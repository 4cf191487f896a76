/**
 * The life of a task at a worker. A message comes, and one of these happens to it:
 * - it is here already, or was acknowledged here: it is not begun;
 * - it failed before and has to wait: it is given back with its delay, which the broker measures;
 * - this worker is ending: it is given back at once;
 * - it was with a worker that fell silent: one of its tasks may have ended that worker. Each becomes a message of its own in
 *   the queue `alone`, where a worker has one at a time; a task that ends its worker there too often is a dead letter, and
 *   the others are done;
 * - it cannot be read: it is a dead letter;
 * - else its tasks run on the pool.
 *
 * A task that has run ends in one of these ways, and is then settled with its lease: its result goes to the caller, or there
 * is none; it failed, and is stored again with a delay; it failed too often, and is stored as a dead letter before its
 * caller gets the error; its caller has aborted it; the pool took no more tasks, and it is given back. A task that could not
 * be stored before this worker ended is delivered again.
 */
import { MillraceError } from '@millrace/base/errors';
import type { Pool } from '@millrace/pool';
import { type Delivery, deliveryOf } from '../jetstream.js';
import type { Arrival } from '../link.js';
import { decodeBatch, type WireRecord } from '../wire.js';
import type { WorkerContext } from './context.js';
import { type Acks, Lease, type LeasedTask, type Leases, Recent, type Requeue } from './leases.js';
import {
  cancelKey,
  type DurableTask,
  encodeError,
  encodeResult,
  read,
  taskOf,
  textOf,
} from './record.js';
import type { Replies } from './replies.js';
import type { QueueName } from './streams.js';

const cancelsKept = 10_000;
/** Length above that of any task's key, whose id has at most 200 characters. */
const longestKey = 256;

/** Parts of a worker that a task passes. */
interface Parts {
  readonly pool: Pool;
  readonly acks: Acks;
  readonly leases: Leases;
  readonly requeue: Requeue;
  readonly replies: Replies;
}

export class Runner {
  readonly #context: WorkerContext;
  readonly #pool: Pool;
  readonly #acks: Acks;
  readonly #leases: Leases;
  readonly #requeue: Requeue;
  readonly #replies: Replies;
  readonly #cancelled = new Recent(cancelsKept, longestKey);
  /** Tasks that are here and may be aborted, by their {@link cancelKey}. */
  readonly #abortable = new Map<string, AbortController>();
  /** Names of functions that have run. */
  readonly #functions = new Set<string>();
  /** A function has run for the first time. */
  onNewFunction: () => void = () => {};

  constructor(context: WorkerContext, { pool, acks, leases, requeue, replies }: Parts) {
    this.#context = context;
    this.#pool = pool;
    this.#acks = acks;
    this.#leases = leases;
    this.#requeue = requeue;
    this.#replies = replies;
  }

  // ------------------------------------------------------------------------------------------------ a message comes

  arrived(queue: QueueName, payload: Uint8Array, { reply, headers }: Arrival): void {
    const delivery = deliveryOf(reply);
    if (delivery === null || reply === undefined) return;
    if (this.#leases.isRepeated(delivery, reply)) return;
    const batch = decodeBatch(payload);
    if (batch === null) {
      void this.#buryUnreadable(queue, payload, delivery, reply);
      return;
    }
    const lease = new Lease(queue, delivery, batch, reply, payload.length, headers);
    if (lease.hasToWait) this.#acks.nak(reply, lease.delayMs);
    else if (this.#context.isClosing) this.#refuse(lease);
    else {
      this.#leases.add(lease);
      if (queue === 'alone') this.#runAlone(lease);
      else if (lease.isSuspect) this.#takeApart(lease);
      else this.#run(lease);
    }
  }

  async #buryUnreadable(
    queue: QueueName,
    payload: Uint8Array,
    delivery: Delivery,
    reply: string,
  ): Promise<void> {
    if (!(await this.#requeue.unreadable(queue, payload, delivery))) return;
    this.#context.counts.dead++;
    this.#acks.ack(reply);
  }

  /** Refuses a lease that was in transit as this worker began to end. */
  #refuse(lease: Lease): void {
    const { records } = lease.batch;
    if (lease.isSuspect || records.length === 0) {
      this.#acks.nak(lease.reply, 0);
      return;
    }
    this.#leases.add(lease);
    this.#leases.giveBack(lease, records);
  }

  #takeApart(lease: Lease): void {
    this.#context.counts.suspects++;
    for (const task of lease.tasks()) {
      void this.#requeue.alone(task).then((isStored) => isStored && this.#leases.settle(lease));
    }
  }

  /** Runs a task alone: each time that it was delivered before, it was the only one of its kind on a worker that then ended. */
  #runAlone(lease: Lease): void {
    const crashes = lease.delivery.count - 1;
    const task = taskOf(lease.batch.records[0]);
    const most = (task?.attempts || this.#context.settings.attempts) - lease.failures;
    if (crashes < most) {
      this.#run(lease);
      return;
    }
    const error = new MillraceError(
      'MILLRACE_E_WORKER',
      `the process of the worker ended each of ${crashes} times that the task ran alone`,
    );
    for (const each of lease.tasks()) void this.#bury(each, 'worker', error);
  }

  // ------------------------------------------------------------------------------------------------ its tasks run

  #run(lease: Lease): void {
    for (const leased of lease.tasks()) {
      const task = taskOf(leased.record);
      if (task === null) {
        const error = new Error('the task cannot be read; is the client of another version?');
        void this.#bury(leased, 'unreadable', error);
      } else if (task.isAbortable && this.#cancelled.has(keyOf(lease, task))) {
        this.#settleCancelled(lease);
      } else void this.#runTask(leased, task);
    }
  }

  async #runTask(leased: LeasedTask, task: DurableTask): Promise<void> {
    const { lease } = leased;
    const { id, name, timeoutMs, isAbortable } = task;
    const controller = isAbortable ? new AbortController() : null;
    if (controller !== null) this.#abortable.set(keyOf(lease, task), controller);
    let result: unknown;
    try {
      result = await this.#pool.run(task.task, {
        id,
        delivery: lease.deliveries,
        priority: lease.priority,
        ...(name !== '' && { name }),
        ...(timeoutMs > 0 && { timeout: timeoutMs }),
        ...(controller !== null && { signal: controller.signal }),
      });
    } catch (error) {
      this.#failed(leased, task, error);
      return;
    } finally {
      if (controller !== null) this.#abortable.delete(keyOf(lease, task));
    }
    if (!this.#functions.has(name)) {
      this.#functions.add(name);
      this.onNewFunction();
    }
    this.#done(lease, task, result);
  }

  /** A client has told which of its tasks are aborted. */
  cancel(payload: Uint8Array): void {
    const keys = read(payload);
    if (!Array.isArray(keys)) return;
    for (const key of keys) {
      if (typeof key !== 'string') continue;
      this.#cancelled.add(key);
      this.#abortable.get(key)?.abort();
    }
  }

  /** Mean times in ms of the functions that have run, by name. */
  times(): Record<string, number> {
    const times: Record<string, number> = {};
    for (const name of this.#functions) {
      const meanMs = this.#pool.meanMs(name === '' ? null : name);
      if (meanMs !== null) times[name] = meanMs;
    }
    return times;
  }

  // ------------------------------------------------------------------------------------------------ they have run

  #done(lease: Lease, task: DurableTask, result: unknown): void {
    const { counts, link } = this.#context;
    counts.done++;
    if (task.isAnswered) {
      this.#reply(lease, encodeResult(task.id, result, lease.deliveries, link.maxPayload));
    } else this.#leases.settle(lease);
  }

  /** Handles a task that threw, timed out, or ended its thread; was aborted; or that the pool did not run. */
  #failed(leased: LeasedTask, task: DurableTask, error: unknown): void {
    const { lease } = leased;
    const { counts, isClosing, settings } = this.#context;
    const code = (error as { code?: unknown } | null)?.code;
    if (isRefusal(error)) {
      // Only what has not begun looks like an abort.
      const hasBegun = (error as Error).name !== 'AbortError';
      if (isClosing && !hasBegun) this.#leases.giveBack(lease, [leased.record]);
      else void this.#postpone(leased, isClosing ? 0 : settings.backoffMs(1));
      return;
    }
    if (code === 'MILLRACE_E_ABORTED' && this.#cancelled.has(keyOf(lease, task))) {
      this.#settleCancelled(lease);
      return;
    }
    counts.failed++;
    // With a bad result it has run to its end; another time would end like this one.
    if (code === 'MILLRACE_E_BAD_RESULT') {
      this.#replyError(lease, task, error);
      return;
    }
    const failures = lease.failures + 1;
    if (failures >= (task.attempts || settings.attempts)) void this.#bury(leased, 'failed', error);
    else void this.#retry(leased, task, failures, error);
  }

  #settleCancelled(lease: Lease): void {
    this.#context.counts.cancelled++;
    this.#leases.settle(lease);
  }

  async #retry(
    leased: LeasedTask,
    { id, name }: DurableTask,
    failures: number,
    error: unknown,
  ): Promise<void> {
    const { lease } = leased;
    const { counts, settings, emit } = this.#context;
    const delayMs = settings.backoffMs(failures);
    if (!(await this.#requeue.again(leased, failures, delayMs))) return;
    counts.retried++;
    emit('retry', { id, name, delivery: lease.deliveries, error: textOf(error), delayMs });
    this.#leases.settle(lease);
  }

  /**
   * Postpones a task that was cut short as this worker ended, or for which its pool has no room: its delivery counts, but not
   * as a failure.
   */
  async #postpone(leased: LeasedTask, delayMs: number): Promise<void> {
    const { lease } = leased;
    this.#context.counts.returned++;
    if (await this.#requeue.again(leased, lease.failures, delayMs)) this.#leases.settle(lease);
  }

  /** Stores a dead letter, and then answers the caller. */
  async #bury(leased: LeasedTask, reason: string, error: unknown): Promise<void> {
    const { lease, record } = leased;
    const { counts, emit } = this.#context;
    const text = textOf(error);
    if (!(await this.#requeue.dead(leased, reason, text))) return;
    const task = taskOf(record);
    counts.dead++;
    const { id = '', name = '' } = task ?? {};
    emit('dead', { id, name, delivery: lease.deliveries, error: text });
    this.#replyError(lease, task, error);
  }

  #replyError(lease: Lease, task: DurableTask | null, error: unknown): void {
    if (task?.isAnswered) {
      const { maxPayload } = this.#context.link;
      this.#reply(lease, encodeError(task.id, error, lease.deliveries, maxPayload));
    } else this.#leases.settle(lease);
  }

  #reply(lease: Lease, record: WireRecord): void {
    let isFree = false;
    // A result that waits for an absent client does not keep this worker from other tasks.
    const onAway = () => {
      if (!isFree) this.#leases.free(lease);
      isFree = true;
    };
    const onEnd = () => {
      onAway();
      this.#leases.settleFreed(lease);
    };
    this.#replies.send(lease.batch.sender, { record, onAway, onEnd });
  }
}

const keyOf = ({ batch }: Lease, { id }: DurableTask) =>
  cancelKey(batch.sender, batch.sequence, id);

/** The pool has not run the task to its end: it is closed, or full. An error of the task itself is a clone, and no MillraceError. */
const isRefusal = (error: unknown): boolean =>
  error instanceof MillraceError &&
  (error.code === 'MILLRACE_E_CLOSED' || error.code === 'MILLRACE_E_OVERLOADED');
