/** The options of clients, calls, workers and streams of durable tasks: meaning, unit, default and range. */
import { AbortError, type AbortSource, isAborted, reasonOf } from '@millrace/base/abort';
import { MillraceError, show } from '@millrace/base/errors';
import { check, parse, refused } from '@millrace/base/options';
import { classOf, type Priority, priorityField } from '@millrace/base/priority';
import * as is from '@millrace/base/schema';
import type { Pool, PoolOptions } from '@millrace/pool';
import { type BrokerOptions, brokerField, brokerSettings } from '../options.js';

const maxMs = 2_147_483_647;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

const nameField = is.custom<string | null>(
  'a string: the name of a function',
  (value) => value === null || typeof value === 'string',
);
const attemptsField = is.integer(1, 1000);

// ------------------------------------------------------------------------------------------------ the stream

/** A stream of durable tasks. The first client or worker creates it; given bounds must equal those of an existing stream. */
export interface StreamOptions {
  /** Name: 1 to 64 letters, digits, `-` and `_`; it must not end in `_dead`. */
  name: string;
  /**
   * Bytes of tasks that the stream holds: 65,536 to 2^53 - 1. Default: 512 MiB. The stream of dead letters holds a quarter of
   * it.
   */
  maxBytes?: number;
  /** Messages that the stream holds, each with one task or a pack of them: 1 to 2^53 - 1. Default: no bound but `maxBytes`. */
  maxMessages?: number;
  /** Time in ms in which another task of the same `id` is a duplicate: 1000 to 86,400,000. Default: 120,000. */
  duplicateWindow?: number;
  /** Copies, each on another server of a cluster: 1 to 5. Default: 1. */
  replicas?: number;
}

const streamName = is.text(
  'a name of 1 to 64 letters, digits, - and _, without _dead at its end',
  (name) => /^[\w-]{1,64}$/.test(name) && !name.endsWith('_dead'),
);

export const streamSchema = is.schema({
  name: is.required(streamName),
  maxBytes: is.bytes(65_536, Number.MAX_SAFE_INTEGER),
  maxMessages: is.integer(1, Number.MAX_SAFE_INTEGER),
  duplicateWindow: is.wholeMs(1000, dayMs),
  replicas: is.integer(1, 5),
} satisfies is.FieldsOf<StreamOptions>);

/** The option `stream`. */
export const streamField = is.either(streamName, is.partial(streamSchema));

/**
 * The same with its defaults; a `maxMessages` of -1 is no bound. `given` names the options that the user has given: the others are not
 * compared with an existing stream.
 */
export type StreamSettings = Required<StreamOptions> & { readonly given: ReadonlySet<string> };

export function streamSettings(
  stream: string | is.Given<typeof streamSchema.fields>,
): StreamSettings {
  const given = typeof stream === 'string' ? { name: stream } : stream;
  return {
    maxBytes: 512 * 1024 * 1024,
    maxMessages: -1,
    duplicateWindow: 120_000,
    replicas: 1,
    ...(given as is.Given<typeof streamSchema.fields> & { name: string }),
    given: new Set(Object.keys(given).filter((key) => key !== 'name')),
  };
}

// ------------------------------------------------------------------------------------------------ clients

/** Options of a {@link TaskClient}. */
export interface TaskClientOptions {
  /** The broker: a URL, or options of the connection. */
  broker: string | BrokerOptions;
  /** The stream: its name, or its name and bounds. */
  stream: string | StreamOptions;
  /** Function for tasks without a name. Default: the default function of the worker. */
  name?: string | null;
  /** Priority of tasks without one. Default: 'normal'. */
  priority?: Priority;
  /** Longest time in ms that an attempt may run: 0 (without limit, the default) to 2,147,483,647. */
  timeout?: number;
  /** Failures after which a task is a dead letter: 1 to 1000. Default: the worker's setting, which is 5. */
  attempts?: number;
  /** Limit on tasks not stored yet, beyond which calls reject with MILLRACE_E_OVERLOADED: 0 to 100,000,000. Default: 100,000. */
  maxQueue?: number;
  /** Tasks in a message: 1 to 512, default 100. With 1 no task waits for another at a worker. */
  maxBatch?: number;
  /** Longest time in ms until a task is stored: 1 to 2,147,483,647, at most the stream's `duplicateWindow`. Default: 30,000. */
  storeTimeout?: number;
  /** Time in ms that `close()` waits: 0 to 2,147,483,647. Default: 30,000. */
  closeTimeout?: number;
}

export const clientSchema = is.schema({
  broker: brokerField,
  stream: is.required(streamField),
  name: nameField,
  priority: is.or(priorityField, 'normal'),
  timeout: is.ms(0, maxMs, 0),
  // 0: the worker's setting.
  attempts: is.or(attemptsField, 0),
  maxQueue: is.integer(0, 100_000_000, 100_000),
  maxBatch: is.integer(1, 512, 100),
  storeTimeout: is.ms(1, maxMs, 30_000),
  closeTimeout: is.ms(0, maxMs, 30_000),
} satisfies is.FieldsOf<TaskClientOptions>);

/** Checks options. Throws MILLRACE_E_INVALID_OPTION. */
export function clientSettings(given: TaskClientOptions) {
  const what = 'TaskClient';
  const parsed = parse(what, given, clientSchema);
  const stream = streamSettings(parsed.stream);
  const { storeTimeout } = parsed;
  if (storeTimeout > stream.duplicateWindow) {
    const wanted = `at most the duplicateWindow of \`stream\`, ${stream.duplicateWindow}: a task that is sent again after it would be stored twice`;
    throw refused(what, 'storeTimeout', storeTimeout, wanted);
  }
  return { ...parsed, stream, name: parsed.name ?? '', priority: classOf(parsed.priority) };
}

/** Options as a client uses them. `name` is empty for the worker's default function, `attempts` 0 for the worker's setting. */
export type ClientSettings = ReturnType<typeof clientSettings>;

// ------------------------------------------------------------------------------------------------ calls

/** Options of `TaskClient.enqueue()`, for one task. */
export interface EnqueueOptions {
  /** Function: an export of the workers' file. Default: the client's. */
  name?: string | null;
  /** Priority. Default: the client's, which is 'normal'. */
  priority?: Priority;
  /** Longest time in ms that an attempt may run: 0 (without limit) to 2,147,483,647. Default: the client's. */
  timeout?: number;
  /** Failures after which it is a dead letter: 1 to 1000. Default: the client's. */
  attempts?: number;
  /**
   * Id of the task: 1 to 200 characters. Another task of the same id is not stored within the stream's `duplicateWindow`.
   * Default: none.
   */
  id?: string;
}

/** Options of `TaskClient.run()`, for one task. */
export interface TaskOptions extends EnqueueOptions {
  /**
   * Signal to abort the call, which then rejects: a waiting task does not run; a running one is asked to end, else its thread
   * is ended. Default: none.
   */
  signal?: AbortSource | null;
}

const enqueueFields = {
  name: nameField,
  priority: priorityField,
  timeout: is.ms(0, maxMs),
  attempts: attemptsField,
  id: is.text('a string of 1 to 200 characters', ({ length }) => length > 0 && length <= 200),
} satisfies is.FieldsOf<EnqueueOptions>;

export const enqueueSchema = is.schema(enqueueFields);

export const taskSchema = is.schema({
  ...enqueueFields,
  // Read by `checkRun()`.
  signal: is.anything(),
} satisfies is.FieldsOf<TaskOptions>);

/** Checks options. Throws MILLRACE_E_INVALID_OPTION. */
export const checkEnqueue = (options: EnqueueOptions): void =>
  check('TaskClient.enqueue()', options, enqueueSchema);

/** Throws MILLRACE_E_INVALID_OPTION; for a bad signal MILLRACE_E_INVALID_ARGUMENT, for an aborted one MILLRACE_E_ABORTED. */
export function checkRun(options: TaskOptions): void {
  check('TaskClient.run()', options, taskSchema);
  const { signal = null } = options;
  if (signal === null) return;
  if (typeof signal !== 'object' || !('once' in signal || 'addEventListener' in signal)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `signal argument must be an object that emits abort; it is ${show(signal)}`,
    );
  }
  if (isAborted(signal)) throw new AbortError(reasonOf(signal));
}

// ------------------------------------------------------------------------------------------------ workers

/** Options of a pool that have another meaning for durable tasks, or none. */
type OtherMeaning = 'retry' | 'maxQueue' | 'priority';

/** Options of a {@link TaskWorker}: those of the pool that runs the tasks, and how they come. */
export interface TaskWorkerOptions extends Omit<PoolOptions, OtherMeaning> {
  /** The broker: a URL, or options of the connection. */
  broker: string | BrokerOptions;
  /** The stream: its name, or its name and bounds. */
  stream: string | StreamOptions;
  /**
   * Pool that runs the tasks beside those of its owner, who closes it. Default: one of the worker's own, created from the
   * other options.
   */
  pool?: Pool;
  /** Failures after which a task is a dead letter: 1 to 1000. Default: 5. A task may override it. */
  attempts?: number;
  /**
   * Time in ms before a failed task is retried: a list with one per attempt, whose last one serves for all further attempts;
   * or the first one, which doubles up to an hour. Each 0 to 86,400,000. Default: 1000.
   */
  backoff?: number | readonly number[];
  /**
   * Tasks per priority that this process takes, exceeded only by the rest of a message: 1 to 100,000. Default: as many tasks
   * as its threads run in 100 ms.
   */
  batch?: number;
  /**
   * Time in ms after which a silent worker loses its tasks: 1000 to 3,600,000. Default: 30,000. A setting of the stream: the
   * last worker to start sets it.
   */
  ackWait?: number;
  /** Time in ms for which a result is kept for an absent client: 0 to 86,400,000. Default: 30,000. */
  replyTimeout?: number;
}

const wait = is.ms(0, dayMs);

/** Options of a worker but those of the pool, which checks them itself; `closeTimeout` belongs to both. */
export const workerSchema = is.schema(
  {
    broker: brokerField,
    stream: is.required(streamField),
    pool: is.or(
      is.custom<Pool>(
        'a Pool of @millrace/pool',
        (value) => typeof (value as Pool | null)?.run === 'function',
      ),
      null,
    ),
    attempts: is.or(attemptsField, 5),
    backoff: is.or(
      is.either(wait, is.list<readonly number[], number>(wait, 'a list of times in ms', 1)),
      1000,
    ),
    batch: is.or(is.integer(1, 100_000), null),
    ackWait: is.wholeMs(1000, hourMs, 30_000),
    replyTimeout: is.ms(0, dayMs, 30_000),
    closeTimeout: is.ms(0, maxMs, 30_000),
  } satisfies is.FieldsOf<Omit<TaskWorkerOptions, Exclude<keyof PoolOptions, 'closeTimeout'>>>,
  { unknown: 'ignored' },
);

const otherMeaning: Record<OtherMeaning, string> = {
  retry: '`attempts` says how often a task may fail',
  maxQueue: '`batch` says how many tasks it has',
  priority: 'a task comes with its priority',
};

/** Throws MILLRACE_E_INVALID_OPTION. The options of the pool are checked by the pool. */
export function workerSettings(given: TaskWorkerOptions) {
  const what = 'TaskWorker';
  const { stream, backoff, ...settings } = parse(what, given, workerSchema);
  for (const [name, why] of Object.entries(otherMeaning)) {
    const value = (given as unknown as Record<string, unknown>)[name];
    if (value !== undefined) throw refused(what, name, value, `left out: ${why}`);
  }
  const others = Object.entries(given).filter(([name]) => !(name in workerSchema.fields));
  const [first] = others;
  if (settings.pool !== null && first !== undefined) {
    throw refused(what, ...first, "left out beside 'pool': give it to that pool");
  }
  // Here, before there is a pool that nobody would end.
  brokerSettings(settings.broker);
  const { closeTimeout } = settings;
  return {
    ...settings,
    stream: streamSettings(stream),
    backoffMs: backoffOf(backoff),
    poolOptions: { ...Object.fromEntries(others), closeTimeout } as PoolOptions,
  };
}

/**
 * Options as a worker uses them. `batch` is null for a size by the speed of the threads, `pool` null for a pool that the worker makes, with
 * `poolOptions`.
 */
export type WorkerSettings = ReturnType<typeof workerSettings>;

/** The time in ms to wait after failure number `failures`, from 1 on. */
function backoffOf(backoff: number | readonly number[]): (failures: number) => number {
  if (typeof backoff === 'number') {
    return (failures) =>
      Math.min(Math.max(backoff, hourMs), backoff * 2 ** Math.min(failures - 1, 40));
  }
  return (failures) => backoff[Math.min(failures, backoff.length) - 1]!;
}
