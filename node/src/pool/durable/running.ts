/** Runs the tasks of messages on the threads of a worker, and aborts those that nobody wants any more. */
import type { Pool } from '../pool.js';
import type { Held, Part } from './held.js';
import type { Holding } from './holding.js';
import type { Outcomes } from './outcomes.js';
import { Recent } from './recent.js';
import { cancelKey, type DurableTask, read } from './record.js';
import { taskOf } from './results.js';
import type { WorkerContext } from './worker-context.js';

const cancelsKept = 10_000;
/** Longer than the key of any task, whose id has at most 200 characters. */
const longestKey = 256;

export class Running {
  readonly #context: WorkerContext;
  readonly #pool: Pool;
  readonly #holding: Holding;
  readonly #outcomes: Outcomes;
  readonly #cancelled = new Recent(cancelsKept, longestKey);
  /** Tasks that are here and may be aborted, by their {@link cancelKey}. */
  readonly #abortable = new Map<string, AbortController>();
  readonly #functions = new Set<string>();

  constructor(context: WorkerContext, pool: Pool, holding: Holding, outcomes: Outcomes) {
    this.#context = context;
    this.#pool = pool;
    this.#holding = holding;
    this.#outcomes = outcomes;
  }

  /** Runs what can be read of a message that is held, and is wanted. */
  run(held: Held): void {
    for (const part of held.parts()) {
      const task = taskOf(part.record);
      if (task === null) {
        const error = new Error('the task cannot be read; is the client of another version?');
        void this.#outcomes.bury(part, 'unreadable', error);
      } else if (task.isAbortable && this.#cancelled.has(keyOf(held, task))) {
        this.#settleCancelled(held);
      } else void this.#runTask(part, task);
    }
  }

  async #runTask(part: Part, task: DurableTask): Promise<void> {
    const { held } = part;
    const { id, name, timeoutMs, isAbortable } = task;
    const controller = isAbortable ? new AbortController() : null;
    if (controller !== null) this.#abortable.set(keyOf(held, task), controller);
    let result: unknown;
    try {
      result = await this.#pool.run([id, held.deliveries, task.task], {
        ...(name !== '' && { name }),
        ...(timeoutMs > 0 && { timeout: timeoutMs }),
        ...(controller !== null && { signal: controller.signal }),
        priority: held.priority,
      });
    } catch (error) {
      this.#failed(part, task, error);
      return;
    } finally {
      if (controller !== null) this.#abortable.delete(keyOf(held, task));
    }
    this.#functions.add(name);
    this.#outcomes.done(held, task, result);
  }

  #failed(part: Part, task: DurableTask, error: unknown): void {
    const { held } = part;
    const code = (error as { code?: unknown } | null)?.code;
    if (code === 'MILLRACE_E_CLOSED' && this.#context.isClosing) {
      // Only what has not begun looks like an abort.
      if ((error as Error).name === 'AbortError') this.#holding.giveBack(held, [part.record]);
      else void this.#outcomes.cutShort(part);
    } else if (code === 'MILLRACE_E_ABORTED' && this.#cancelled.has(keyOf(held, task))) {
      this.#settleCancelled(held);
    } else this.#outcomes.failed(part, task, error);
  }

  #settleCancelled(held: Held): void {
    this.#context.counts.cancelled++;
    this.#holding.settle(held);
  }

  /** A client has said which of its tasks nobody wants any more. */
  cancel(payload: Uint8Array): void {
    const keys = read(payload);
    if (!Array.isArray(keys)) return;
    for (const key of keys) {
      if (typeof key !== 'string') continue;
      this.#cancelled.add(key);
      this.#abortable.get(key)?.abort();
    }
  }

  /** Mean times in ms of the functions that have run. */
  times(): Record<string, number> {
    const times: Record<string, number> = {};
    for (const name of this.#functions) {
      const meanMs = this.#pool.meanMs(name === '' ? null : name);
      if (meanMs !== null) times[name] = meanMs;
    }
    return times;
  }
}

const keyOf = ({ batch }: Held, { id }: DurableTask) => cancelKey(batch.sender, batch.sequence, id);
