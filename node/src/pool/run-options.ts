/** What a call of a pool may ask for, and the checks of it. */
import type { Transferable as TransferItem } from 'node:worker_threads';
import type { AbortSource } from '../core/abort.js';
import { isMoved, transferOf } from '../core/movable.cjs';
import { parseValue, unknown } from '../core/options.js';
import type { Priority } from '../core/priority.js';
import { integer } from '../core/schema.cjs';
import { MillraceError, show } from '../errors.js';
import { poolSchema, type Settings } from './options.js';
import type { TaskExtras } from './task.js';

/** Options of `Pool.run()`, for one task. */
export interface RunOptions {
  /** Parts of the task that are moved to the worker, not copied. Such a task is not sent again if its worker ends. Default: none. */
  transferList?: readonly TransferItem[];
  /** File with the function; default: the pool's. */
  filename?: string | URL | null;
  /** A registered function, or an export of the file; default: the pool's. */
  name?: string | null;
  /** Aborting it rejects the call: a waiting task does not start; a running one is asked to end, else its worker is ended. Default: none. */
  signal?: AbortSource | null;
  /** Default: the pool's, which is 'normal'. */
  priority?: Priority;
  /** Time in ms that the task may run, from when it begins: 0 (without limit) to 2,147,483,647. Default: the pool's. */
  timeout?: number;
  /** How often it is begun again when its worker ended while it ran: 0 to 1000. Default: the pool's. */
  retry?: number;
  /** What the function finds as `context.id`: for tasks of a queue. Default: none. */
  id?: string;
  /** What it finds as `context.delivery`, how often the task was given to a worker: 1 to 2^53 - 1. Default: 1 + how often it was begun before. */
  delivery?: number;
}

const what = 'Pool.run()';
const { fields } = poolSchema;
const deliveryField = integer(1, Number.MAX_SAFE_INTEGER);

const none: readonly TransferItem[] = [];

function transfersOf(
  task: unknown,
  list: readonly TransferItem[] | undefined,
): readonly TransferItem[] {
  if (!isMoved(task)) return list === undefined || list.length === 0 ? none : [...list];
  return [...(list ?? none), ...transferOf(task)];
}

/** What a call may say, and has not. */
const unsaid: Readonly<Record<string, unknown>> = {
  transferList: undefined,
  filename: undefined,
  name: undefined,
  signal: undefined,
  priority: undefined,
  timeout: undefined,
  retry: undefined,
  id: undefined,
  delivery: undefined,
};
const callNames = Object.keys(unsaid);

/** As the caller gave it; nothing comes from a prototype that somebody has tampered with. */
export function callOf(options: RunOptions): RunOptions {
  const call: Record<string, unknown> = { ...unsaid };
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(unsaid, key)) throw unknown(what, key, callNames);
    call[key] = options[key as keyof RunOptions];
  }
  return call;
}

/** Null if there is nothing but a function and an argument. */
export function extrasOf(
  task: unknown,
  given: RunOptions,
  { timeout, retry }: Pick<Settings, 'timeout' | 'retry'>,
): TaskExtras | null {
  const {
    transferList,
    signal = null,
    timeout: timeoutMs = timeout,
    retry: retriesLeft = retry,
    id = null,
    delivery = null,
  } = given;
  if (transferList !== undefined && !Array.isArray(transferList)) {
    throw badArgument('transferList', 'an Array', transferList);
  }
  if (
    signal !== null &&
    (typeof signal !== 'object' || !('once' in signal || 'addEventListener' in signal))
  ) {
    throw badArgument('signal', 'an object that says abort', signal);
  }
  if (id !== null && typeof id !== 'string') throw badArgument('id', 'a string', id);
  const transfers = transfersOf(task, transferList);
  const isUsual = signal === null && timeoutMs === 0 && retriesLeft === 0;
  if (isUsual && transfers === none && id === null && delivery === null) return null;
  if (timeoutMs !== timeout) parseValue(what, 'timeout', timeoutMs, fields.timeout);
  if (retriesLeft !== retry) parseValue(what, 'retry', retriesLeft, fields.retry);
  if (delivery !== null) parseValue(what, 'delivery', delivery, deliveryField);
  return {
    transferList: transfers,
    signal,
    timeoutMs,
    retriesLeft,
    id,
    delivery,
    unlisten: null,
    givenUp: null,
  };
}

export function badArgument(name: string, what: string, value: unknown): MillraceError {
  return new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `${name}${name === 'options' ? '' : ' argument'} must be ${what}; it is ${show(value)}`,
  );
}
