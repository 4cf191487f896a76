/** The messages that a worker has: from when it keeps them until it acknowledges them or gives them back. */
import type { WireRecord } from '../../broker/wire.js';
import { clearTimeout, setTimeout } from '../../core/timers.cjs';
import type { Acks } from './acks.js';
import { Backlog, maxHeldBytes } from './backlog.js';
import type { Delivery } from './delivery.js';
import type { Held } from './held.js';
import { type LaneName, lanes } from './names.js';
import { Recent } from './recent.js';
import type { Store } from './store.js';
import type { WorkerContext } from './worker-context.js';

export class Holding {
  readonly #context: WorkerContext;
  readonly #acks: Acks;
  readonly #store: Store;
  readonly #held = new Map<string, Held>();
  /** Messages that were acknowledged of late: the acknowledgement may have been lost. */
  readonly #done = new Recent(10_000);
  readonly #backlogs = new Map<LaneName, Backlog>(lanes.map((lane) => [lane, new Backlog()]));
  #bytes = 0;
  #whenEmpty: (() => void) | null = null;
  /** There is room for another task. */
  onRoom: () => void = () => {};

  constructor(context: WorkerContext, acks: Acks, store: Store) {
    this.#context = context;
    this.#acks = acks;
    this.#store = store;
  }

  /** Whether a message is being done, or was done, here: then it is dealt with. */
  isRepeated({ key }: Delivery, reply: string): boolean {
    const held = this.#held.get(key);
    if (held !== undefined) held.reply = reply;
    else if (this.#done.has(key)) this.#acks.ack(reply);
    else return false;
    this.#context.counts.repeated++;
    return true;
  }

  hold(held: Held): void {
    const { counts } = this.#context;
    const tasks = held.batch.records.length;
    this.#held.set(held.delivery.key, held);
    this.#backlogs.get(held.lane)!.arrived(tasks);
    this.#bytes += held.bytes;
    counts.messages++;
    counts.tasks += tasks;
    if (tasks === 0) this.#release(held);
  }

  /** One of its tasks is done with: it has run, or is stored elsewhere. */
  settle(held: Held): void {
    this.free(held);
    this.end(held);
  }

  /** One of its tasks keeps others from being asked for no more. */
  free(held: Held): void {
    held.counted--;
    this.#backlogs.get(held.lane)!.tasks--;
    this.onRoom();
  }

  /** One of its tasks, which was freed, has ended. */
  end(held: Held): void {
    held.left--;
    if (held.left > held.returned.length) return;
    if (held.left > 0) void this.#storeBack(held);
    else this.#release(held);
  }

  /** As this worker ends, some of its tasks have not begun: they are given back when the others have ended. */
  giveBack(held: Held, records: readonly WireRecord[]): void {
    this.#context.counts.returned += records.length;
    held.returned.push(...records);
    if (held.left === held.returned.length) void this.#storeBack(held);
  }

  /** Stored again, they do not look like tasks that made a worker die; if that fails, they are delivered again. */
  async #storeBack(held: Held): Promise<void> {
    try {
      await this.#store.back(held);
      this.#release(held);
    } catch {
      this.#acks.nak(held.reply, 0);
      this.#drop(held);
    }
  }

  #release(held: Held): void {
    this.#acks.ack(held.reply);
    this.#done.add(held.delivery.key);
    this.#drop(held);
  }

  #drop(held: Held): void {
    this.#held.delete(held.delivery.key);
    this.#backlogs.get(held.lane)!.tasks -= held.counted;
    this.#bytes -= held.bytes;
    if (this.#held.size === 0) this.#whenEmpty?.();
  }

  // ------------------------------------------------------------------------------------------------ all of them

  /** Tasks of a lane that keep others from being asked for. */
  tasks(lane: LaneName): number {
    return this.#backlogs.get(lane)!.tasks;
  }

  /** How many messages of a lane there is room for, if it may have `most` tasks. */
  room(lane: LaneName, most: number): number {
    return this.#bytes >= maxHeldBytes ? 0 : this.#backlogs.get(lane)!.room(most);
  }

  /** Their time for acknowledgement begins anew. */
  working(): void {
    for (const { reply } of this.#held.values()) this.#acks.working(reply);
  }

  /** Another stream has taken the place of theirs: none of their acknowledgements must reach a message of the new one. */
  forget(): void {
    for (const held of this.#held.values()) held.reply = '';
    this.#acks.forget();
  }

  /** Resolves when there are none, or after `ms`. */
  async empty(ms: number): Promise<void> {
    if (this.#held.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#whenEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Those that are still here are delivered to another worker at once. */
  abandon(): void {
    for (const { reply } of this.#held.values()) this.#acks.nak(reply, 0);
  }
}
