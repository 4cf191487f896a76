/** A call of a client: its task until it is stored, and its result until it is there. */
import { AbortError, type AbortSource, onAbort, reasonOf } from '@millrace/base/abort';
import { MillraceError, show } from '@millrace/base/errors';
import { isMoved } from '@millrace/base/movable';
import { classOf, type PriorityClass } from '@millrace/base/priority';
import { isError } from '@millrace/base/realm';
import { performance } from '@millrace/base/timers';
import type { WireRecord } from '../wire.js';
import type { ClientContext } from './context.js';
import type { TaskOptions } from './options.js';
import type { Stored } from './publisher.js';
import { encodeTask, tooLarge } from './record.js';

/** A task of a client until the broker has stored it. */
export interface Call {
  readonly id: string;
  /** The user has chosen its id: it is a message of its own. */
  readonly hasOwnId: boolean;
  readonly name: string;
  readonly priority: PriorityClass;
  readonly record: WireRecord;
  readonly createdMs: number;
  readonly deadlineMs: number;
  /** Number of its message, once it has one, and that of the message in the stream. */
  message: number;
  sequence: number;
  /** Changed by the send queue alone. */
  state: 'waiting' | 'sent' | 'stored' | 'gone';
  onStored(stored: Stored): void;
  onFailed(error: unknown): void;
}

/** `isAnswered`: the caller waits for the result. Throws for a task that cannot be cloned, or does not fit into a message. */
export function newCall(
  { settings, link }: ClientContext,
  id: string,
  task: unknown,
  options: TaskOptions,
  isAnswered: boolean,
  listeners: Pick<Call, 'onStored' | 'onFailed'>,
): Call {
  const { signal = null, timeout: timeoutMs = settings.timeout } = options;
  const { attempts = settings.attempts } = options;
  const name = options.name ?? settings.name;
  const isAbortable = signal !== null;
  if (isMoved(task)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      'what is marked by move() cannot leave the process; give the task as it is, it is copied',
    );
  }
  let record: WireRecord;
  try {
    record = encodeTask({ id, name, timeoutMs, attempts, task, isAnswered, isAbortable });
  } catch (error) {
    const why = (isError(error) ? error.message : show(error)).replace(/\.$/, '');
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the task cannot be sent to a worker: ${why}; give plain data`,
      { cause: error },
    );
  }
  const large = tooLarge('the task', record.data.length, link.maxPayload);
  if (large !== null) throw large;
  const createdMs = performance.now();
  return {
    id,
    hasOwnId: options.id !== undefined,
    name,
    priority: options.priority === undefined ? settings.priority : classOf(options.priority),
    record,
    createdMs,
    deadlineMs: createdMs + settings.storeTimeout,
    state: 'waiting',
    message: 0,
    sequence: 0,
    ...listeners,
  };
}

/** The result of a task for one or more callers: calls with one id share it. */
export class SharedResult {
  readonly promise: Promise<unknown>;
  call: Call | null = null;
  /** The last caller has aborted its call. */
  onAbandoned: () => void = () => {};
  readonly #onEnd: (result: SharedResult, isFailed: boolean) => void;
  #resolve!: (result: unknown) => void;
  #reject!: (error: unknown) => void;
  #callers = 0;
  #isEnded = false;

  /** `onEnd` is called once, before its promise settles. */
  constructor(onEnd: (result: SharedResult, isFailed: boolean) => void) {
    this.#onEnd = onEnd;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The result for one more caller; a signal ends the wait of its own call, and with the last one that of the task. */
  wait(signal: AbortSource | null): Promise<unknown> {
    this.#callers++;
    if (signal === null) return this.promise;
    return new Promise((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        const error = new AbortError(reasonOf(signal));
        reject(error);
        if (--this.#callers > 0 || this.#isEnded) return;
        this.onAbandoned();
        this.reject(error);
      });
      this.promise.finally(unlisten).then(resolve, reject);
    });
  }

  resolve(result: unknown): void {
    if (this.#end(false)) this.#resolve(result);
  }

  reject(error: unknown): void {
    if (this.#end(true)) this.#reject(error);
  }

  #end(isFailed: boolean): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#onEnd(this, isFailed);
    return true;
  }
}
