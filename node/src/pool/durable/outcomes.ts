/** What becomes of a task that has run: its caller is answered, it is stored for another time, or it is a dead letter. */
import type { WireRecord } from '../../broker/wire.js';
import type { Answers } from './answers.js';
import type { Held, Part } from './held.js';
import type { Holding } from './holding.js';
import { type DurableTask, textOf } from './record.js';
import { errorOf, resultOf, taskOf } from './results.js';
import type { Store } from './store.js';
import type { WorkerContext } from './worker-context.js';

/** Each ends with the task settled; a task that could not be stored before this worker ended is delivered again. */
export class Outcomes {
  readonly #context: WorkerContext;
  readonly #holding: Holding;
  readonly #answers: Answers;
  readonly #store: Store;

  constructor(context: WorkerContext, holding: Holding, answers: Answers, store: Store) {
    this.#context = context;
    this.#holding = holding;
    this.#answers = answers;
    this.#store = store;
  }

  done(held: Held, task: DurableTask, result: unknown): void {
    const { counts, link } = this.#context;
    counts.done++;
    if (task.isAnswered) {
      this.#answer(held, resultOf(task.id, result, held.deliveries, link.maxPayload));
    } else this.#holding.settle(held);
  }

  /** It threw, timed out, or ended its thread. */
  failed(part: Part, task: DurableTask, error: unknown): void {
    const { held } = part;
    const { counts, settings } = this.#context;
    counts.failed++;
    // It has run to its end; another time would end like this one.
    if ((error as { code?: unknown } | null)?.code === 'MILLRACE_E_BAD_RESULT') {
      this.#answerError(held, task, error);
      return;
    }
    const failures = held.failures + 1;
    if (failures >= (task.attempts || settings.attempts)) void this.bury(part, 'failed', error);
    else void this.#again(part, task, failures, error);
  }

  async #again(
    part: Part,
    { id, name }: DurableTask,
    failures: number,
    error: unknown,
  ): Promise<void> {
    const { held } = part;
    const { counts, settings, tell } = this.#context;
    const delayMs = settings.backoffMs(failures);
    if (!(await this.#store.again(part, failures, delayMs))) return;
    counts.retried++;
    tell('retry', { id, name, delivery: held.deliveries, error: textOf(error), delayMs });
    this.#holding.settle(held);
  }

  /** It ran for longer than closeTimeout as this worker ended: its delivery counts, but not as a failure. */
  async cutShort(part: Part): Promise<void> {
    const { held } = part;
    this.#context.counts.returned++;
    if (await this.#store.again(part, held.failures, 0)) this.#holding.settle(held);
  }

  /** Stores a dead letter, and then answers the caller. */
  async bury(part: Part, reason: string, error: unknown): Promise<void> {
    const { held, record } = part;
    const { counts, tell } = this.#context;
    const text = textOf(error);
    if (!(await this.#store.dead(part, reason, text))) return;
    const task = taskOf(record);
    counts.dead++;
    const { id = '', name = '' } = task ?? {};
    tell('dead', { id, name, delivery: held.deliveries, error: text });
    this.#answerError(held, task, error);
  }

  #answerError(held: Held, task: DurableTask | null, error: unknown): void {
    if (task?.isAnswered) {
      const { maxPayload } = this.#context.link;
      this.#answer(held, errorOf(task.id, error, held.deliveries, maxPayload));
    } else this.#holding.settle(held);
  }

  #answer(held: Held, record: WireRecord): void {
    let isFree = false;
    // A result that waits for an absent client does not keep this worker from other tasks.
    const away = () => {
      if (!isFree) this.#holding.free(held);
      isFree = true;
    };
    const end = () => {
      away();
      this.#holding.end(held);
    };
    this.#answers.send(held.batch.sender, record, { away, end });
  }
}
