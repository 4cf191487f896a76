/**
 * The messages that a worker has, from when it takes them until it acknowledges them or gives them back. Each of their tasks
 * is settled once: it has run and its result is confirmed or given up, or it is stored again elsewhere. Then the message is
 * acknowledged. Until then the broker is told every third of `ackWait` that it is worked on; a worker that falls silent
 * loses it.
 *
 * A task also counts against the number that the worker wants at hand (`room()`), until it is settled or freed: a result
 * that waits for an absent client keeps no other task away. Acknowledged messages are remembered for a while, since an
 * acknowledgement may be lost and its message come again.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { WireRecord } from '../wire.js';
import type { WorkerContext } from './context.js';
import { type Acks, type Delivery, type Lease, Recent } from './lease.js';
import type { Requeue } from './requeue.js';
import { type QueueName, queueNames } from './streams.js';

/** Bytes of messages at hand; beyond it nothing is asked for. */
const maxBytes = 64 * 1024 * 1024;

export class Leases {
  readonly #context: WorkerContext;
  readonly #acks: Acks;
  readonly #requeue: Requeue;
  readonly #leases = new Map<string, Lease>();
  /** Messages that were acknowledged of late. */
  readonly #done = new Recent(10_000);
  readonly #backlogs = new Map<QueueName, Backlog>(queueNames.map((name) => [name, new Backlog()]));
  #bytes = 0;
  #whenEmpty: (() => void) | null = null;
  /** There is room for another task. */
  onRoom: () => void = () => {};

  constructor(context: WorkerContext, acks: Acks, requeue: Requeue) {
    this.#context = context;
    this.#acks = acks;
    this.#requeue = requeue;
  }

  /** Whether a message is being done, or was done, here: then it is dealt with. */
  isRepeated({ key }: Delivery, reply: string): boolean {
    const lease = this.#leases.get(key);
    if (lease !== undefined) lease.reply = reply;
    else if (this.#done.has(key)) this.#acks.ack(reply);
    else return false;
    this.#context.counts.repeated++;
    return true;
  }

  add(lease: Lease): void {
    const { counts } = this.#context;
    const tasks = lease.batch.records.length;
    this.#leases.set(lease.delivery.key, lease);
    this.#backlogs.get(lease.queue)!.arrived(tasks);
    this.#bytes += lease.bytes;
    counts.messages++;
    counts.tasks += tasks;
    if (tasks === 0) this.#release(lease);
  }

  /** One of its tasks is done with: it has run, or is stored elsewhere. */
  settle(lease: Lease): void {
    this.free(lease);
    this.settleFreed(lease);
  }

  /** One of its tasks keeps others from being asked for no more. */
  free(lease: Lease): void {
    lease.counted--;
    this.#backlogs.get(lease.queue)!.tasks--;
    this.onRoom();
  }

  /** One of its tasks, which was freed, is done with. */
  settleFreed(lease: Lease): void {
    lease.left--;
    if (lease.left > lease.returned.length) return;
    if (lease.left > 0) void this.#storeBack(lease);
    else this.#release(lease);
  }

  /** As this worker ends, some of its tasks have not begun: they are given back when the others have ended. */
  giveBack(lease: Lease, records: readonly WireRecord[]): void {
    this.#context.counts.returned += records.length;
    lease.returned.push(...records);
    if (lease.left === lease.returned.length) void this.#storeBack(lease);
  }

  /** Stored again, they do not look like tasks that made a worker die; if that fails, they are delivered again. */
  async #storeBack(lease: Lease): Promise<void> {
    try {
      await this.#requeue.back(lease);
      this.#release(lease);
    } catch {
      this.#acks.nak(lease.reply, 0);
      this.#drop(lease);
    }
  }

  #release(lease: Lease): void {
    this.#acks.ack(lease.reply);
    this.#done.add(lease.delivery.key);
    this.#drop(lease);
  }

  #drop(lease: Lease): void {
    this.#leases.delete(lease.delivery.key);
    this.#backlogs.get(lease.queue)!.tasks -= lease.counted;
    this.#bytes -= lease.bytes;
    if (this.#leases.size === 0) this.#whenEmpty?.();
  }

  // ------------------------------------------------------------------------------------------------ all of them

  /** Tasks of a queue that keep others from being asked for. */
  tasks(queue: QueueName): number {
    return this.#backlogs.get(queue)!.tasks;
  }

  /** How many messages of a queue there is room for, if it may have `most` tasks. */
  room(queue: QueueName, most: number): number {
    return this.#bytes >= maxBytes ? 0 : this.#backlogs.get(queue)!.room(most);
  }

  /** Begins their time for acknowledgement anew. */
  working(): void {
    for (const { reply } of this.#leases.values()) this.#acks.working(reply);
  }

  /** Another stream has taken the place of theirs: none of their acknowledgements must reach a message of the new one. */
  forget(): void {
    for (const lease of this.#leases.values()) lease.reply = '';
    this.#acks.forget();
  }

  /** Resolves when there are none, or after `ms`. */
  async empty(ms: number): Promise<void> {
    if (this.#leases.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#whenEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Has those that are left delivered to another worker at once. */
  abandon(): void {
    for (const { reply } of this.#leases.values()) this.#acks.nak(reply, 0);
  }
}

/** Tasks of one queue. */
class Backlog {
  tasks = 0;
  /** Tasks in a message, on average of late. */
  #perMessage = 1;

  arrived(tasks: number): void {
    this.tasks += tasks;
    // A message without tasks must not make it look as if any number of them were welcome.
    this.#perMessage += (Math.max(tasks, 1) - this.#perMessage) / 8;
  }

  room(most: number): number {
    if (this.tasks >= most) return 0;
    return Math.max(1, Math.floor((most - this.tasks) / this.#perMessage));
  }
}
