/** The options of clients, calls, workers and streams of durable tasks: meaning, unit, default, range, and the checks that keep bad ones out. */
import { AbortError, type AbortSource, isAborted, reasonOf } from '../../core/abort.js';
import { classOf, type Priority, type PriorityClass } from '../../core/intake/priority.js';
import { check, checkKeys, integer, invalid, number } from '../../core/options.js';
import { MillraceError, show } from '../../errors.js';
import type { Pool, PoolOptions } from '../../pool/index.js';
import type { BrokerOptions } from '../options.js';

const maxMs = 2_147_483_647;
const hourMs = 3_600_000;

// ------------------------------------------------------------------------------------------------ the stream

/** A stream of durable tasks. The first client or worker creates it; bounds that are given must be those that it has. */
export interface StreamOptions {
  /** 1 to 64 letters, digits, `-` and `_`; it must not end in `_dead`. */
  name: string;
  /** Bytes of tasks that it holds: 65,536 to 2^53 - 1. Default: 512 MiB. The stream of dead letters holds a quarter of it. */
  maxBytes?: number;
  /** Messages that it holds, each of one task or of a pack of them: 1 to 2^53 - 1. Default: no bound but `maxBytes`. */
  maxMessages?: number;
  /** Time in ms in which a second task of the same `id` is a duplicate: 1000 to 86,400,000. Default: 120,000. */
  duplicateWindow?: number;
  /** Copies, each on another server of a cluster: 1 to 5. Default: 1. */
  replicas?: number;
}

/** The same with its defaults. */
export interface StreamSettings {
  readonly name: string;
  readonly maxBytes: number;
  /** -1: without a bound. */
  readonly maxMessages: number;
  readonly duplicateWindow: number;
  readonly replicas: number;
  /** Names of the options that the user has given: the others are not compared with an existing stream. */
  readonly given: ReadonlySet<string>;
}

const streamRules = {
  maxBytes: integer(65_536, Number.MAX_SAFE_INTEGER),
  maxMessages: integer(1, Number.MAX_SAFE_INTEGER),
  duplicateWindow: integer(1000, 86_400_000),
  replicas: integer(1, 5),
};

/** Throws MILLRACE_E_INVALID_OPTION. */
export function streamSettings(given: string | StreamOptions | undefined): StreamSettings {
  const options = typeof given === 'string' || given === undefined ? { name: given } : given;
  checkKeys("option 'stream'", options, ['name', ...Object.keys(streamRules)]);
  const { name, ...bounds } = options;
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name) || name.endsWith('_dead')) {
    throw invalid(
      'stream',
      name,
      'a name of 1 to 64 letters, digits, - and _, without _dead at its end',
    );
  }
  const said = Object.entries(bounds).filter(([, value]) => value !== undefined);
  for (const [key, value] of said) {
    check(`stream.${key}`, value, streamRules[key as keyof typeof streamRules]);
  }
  return {
    maxBytes: 512 * 1024 * 1024,
    maxMessages: -1,
    duplicateWindow: 120_000,
    replicas: 1,
    ...(Object.fromEntries(said) as Partial<StreamSettings>),
    name,
    given: new Set(said.map(([key]) => key)),
  };
}

function checkBroker(broker: unknown): void {
  if (broker === undefined) throw invalid('broker', broker, "a URL as 'nats://127.0.0.1:4222'");
}

// ------------------------------------------------------------------------------------------------ clients

/** Options of a {@link TaskClient}. */
export interface TaskClientOptions {
  /** The broker: a URL, or options of the connection. */
  broker: string | BrokerOptions;
  /** The stream: its name, or its name and bounds. */
  stream: string | StreamOptions;
  /** Function of tasks that name none. Default: the default function of the worker. */
  name?: string | null;
  /** Priority of tasks that name none. Default: 'normal'. */
  priority?: Priority;
  /** Time in ms that a task may run, each time: 0 (without limit, the default) to 2,147,483,647. */
  timeout?: number;
  /** How often a task may fail before it is a dead letter: 1 to 1000. Default: the worker's setting, which is 5. */
  attempts?: number;
  /** Tasks that are not stored yet; beyond it calls reject with MILLRACE_E_OVERLOADED: 0 to 100,000,000. Default: 100,000. */
  maxQueue?: number;
  /** Tasks in a message: 1 to 512, default 100. With 1 no task waits for another at a worker. */
  maxBatch?: number;
  /** Time in ms for a task to be stored: 1 to 2,147,483,647, at most the stream's `duplicateWindow`. Default: 30,000. */
  storeTimeout?: number;
  /** Time in ms that `close()` waits: 0 to 2,147,483,647. Default: 30,000. */
  closeTimeout?: number;
}

/** The same with its defaults. */
export interface ClientSettings {
  readonly broker: string | BrokerOptions;
  readonly stream: StreamSettings;
  /** Empty: the worker's default function. */
  readonly name: string;
  readonly priority: PriorityClass;
  readonly timeout: number;
  /** 0: the worker's setting. */
  readonly attempts: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly storeTimeout: number;
  readonly closeTimeout: number;
}

const clientRules = {
  timeout: number(0, maxMs),
  attempts: integer(1, 1000),
  maxQueue: integer(0, 100_000_000),
  maxBatch: integer(1, 512),
  storeTimeout: number(1, maxMs),
  closeTimeout: number(0, maxMs),
};
const clientNames = ['broker', 'stream', 'name', 'priority', ...Object.keys(clientRules)];

/** Throws MILLRACE_E_INVALID_OPTION. */
export function clientSettings(options: TaskClientOptions): ClientSettings {
  checkKeys('the options of TaskClient', options, clientNames);
  checkBroker(options.broker);
  for (const [name, rule] of Object.entries(clientRules)) {
    const value = options[name as keyof typeof clientRules];
    if (value !== undefined) check(name, value, rule);
  }
  const stream = streamSettings(options.stream);
  const { storeTimeout = 30_000 } = options;
  if (storeTimeout > stream.duplicateWindow) {
    throw invalid(
      'storeTimeout',
      storeTimeout,
      `at most the duplicateWindow of \`stream\`, ${stream.duplicateWindow}: a task that is sent again after it would be stored twice`,
    );
  }
  if (options.name != null && typeof options.name !== 'string') {
    throw invalid('name', options.name, 'a string: the name of a function');
  }
  return {
    broker: options.broker,
    stream,
    name: options.name ?? '',
    priority: classOf(options.priority ?? 'normal'),
    timeout: options.timeout ?? 0,
    attempts: options.attempts ?? 0,
    maxQueue: options.maxQueue ?? 100_000,
    maxBatch: options.maxBatch ?? 100,
    storeTimeout,
    closeTimeout: options.closeTimeout ?? 30_000,
  };
}

// ------------------------------------------------------------------------------------------------ calls

/** Options of `TaskClient.enqueue()`, for one task. */
export interface EnqueueOptions {
  /** The function, an export of the workers' file. Default: the client's. */
  name?: string | null;
  /** Default: the client's, which is 'normal'. */
  priority?: Priority;
  /** Time in ms that the task may run, each time: 0 (without limit) to 2,147,483,647. Default: the client's. */
  timeout?: number;
  /** How often it may fail before it is a dead letter: 1 to 1000. Default: the client's. */
  attempts?: number;
  /** A second task of the same id is not stored, for as long as the stream's `duplicateWindow`. 1 to 200 characters. Default: none. */
  id?: string;
}

/** Options of `TaskClient.run()`, for one task. */
export interface TaskOptions extends EnqueueOptions {
  /** Aborting it rejects the call: a waiting task does not run; a running one is asked to end, else its thread is ended. Default: none. */
  signal?: AbortSource | null;
}

const callNames = ['name', 'priority', 'timeout', 'attempts', 'id', 'signal'];

/** Throws MILLRACE_E_INVALID_OPTION; for a bad signal MILLRACE_E_INVALID_ARGUMENT, for an aborted one MILLRACE_E_ABORTED. */
export function checkCall(options: TaskOptions): void {
  checkKeys('the options of a task', options, callNames);
  const { name, timeout, attempts, id, signal = null } = options;
  if (name != null && typeof name !== 'string') throw invalid('name', name, 'a string');
  if (timeout !== undefined) check('timeout', timeout, clientRules.timeout);
  if (attempts !== undefined) check('attempts', attempts, clientRules.attempts);
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > 200)) {
    throw invalid('id', id, 'a string of 1 to 200 characters');
  }
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
  /** A pool that runs the tasks beside those of its owner, who closes it. Default: one of the worker's own, made of the other options. */
  pool?: Pool;
  /** How often a task may fail before it is a dead letter: 1 to 1000. Default: 5. A task may say otherwise. */
  attempts?: number;
  /**
   * Time in ms before a task that has failed is begun again: that before each attempt, the last one for all further ones; or
   * the first one, which doubles up to an hour. Each 0 to 86,400,000. Default: 1000.
   */
  backoff?: number | readonly number[];
  /**
   * Tasks of each priority that this process has at most, but for what a last message brings: 1 to 100,000. Default: as many
   * as its threads do in 100 ms.
   */
  batch?: number;
  /**
   * Time in ms after which a silent worker has lost its tasks: 1000 to 3,600,000. Default: 30,000. It is the stream's: the
   * last worker to start sets it.
   */
  ackWait?: number;
  /** Time in ms for which a result is kept for a client that is away: 0 to 86,400,000. Default: 30,000. */
  replyTimeout?: number;
}

/** The same with its defaults. */
export interface WorkerSettings {
  readonly broker: string | BrokerOptions;
  readonly stream: StreamSettings;
  readonly attempts: number;
  /** The time in ms to wait after failure number `failures`, from 1 on. */
  readonly backoffMs: (failures: number) => number;
  /** Null: by the speed of the threads. */
  readonly batch: number | null;
  readonly ackWait: number;
  readonly replyTimeout: number;
  readonly closeTimeout: number;
  /** The pool of the user; null if the worker has to make one, with these options. */
  readonly pool: Pool | null;
  readonly poolOptions: PoolOptions;
}

const waitRule = number(0, 86_400_000);
const otherMeaning: Record<OtherMeaning, string> = {
  retry: '`attempts` says how often a task may fail',
  maxQueue: '`batch` says how many tasks it has',
  priority: 'a task comes with its priority',
};

/** Throws MILLRACE_E_INVALID_OPTION. The options of the pool are checked by the pool. */
export function workerSettings(given: TaskWorkerOptions): WorkerSettings {
  if (typeof given !== 'object' || given === null) throw invalid('options', given, 'an object');
  for (const [name, why] of Object.entries(otherMeaning)) {
    if ((given as unknown as Record<string, unknown>)[name] === undefined) continue;
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `TaskWorker has no option '${name}': ${why}`,
    );
  }
  const {
    broker,
    stream,
    pool = null,
    attempts = 5,
    backoff = 1000,
    batch = null,
    ackWait = 30_000,
    replyTimeout = 30_000,
    ...poolOptions
  } = given;
  checkBroker(broker);
  if (pool !== null) checkPool(pool, poolOptions);
  check('attempts', attempts, integer(1, 1000));
  if (batch !== null) check('batch', batch, integer(1, 100_000));
  check('ackWait', ackWait, integer(1000, hourMs));
  check('replyTimeout', replyTimeout, waitRule);
  const { closeTimeout = 30_000 } = poolOptions;
  check('closeTimeout', closeTimeout, clientRules.closeTimeout);
  return {
    broker,
    stream: streamSettings(stream),
    attempts,
    backoffMs: backoffOf(backoff),
    batch,
    ackWait,
    replyTimeout,
    closeTimeout,
    pool,
    poolOptions,
  };
}

function checkPool(pool: Pool, { closeTimeout, ...others }: PoolOptions): void {
  if (typeof pool.run !== 'function') throw invalid('pool', pool, 'a Pool of millrace/pool');
  const [name] = Object.keys(others);
  if (name === undefined) return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_OPTION',
    `option '${name}' means nothing beside 'pool': give it to that pool`,
  );
}

function backoffOf(backoff: number | readonly number[]): (failures: number) => number {
  if (!Array.isArray(backoff)) {
    check('backoff', backoff, waitRule);
    const first = backoff as number;
    return (failures) => Math.min(Math.max(first, hourMs), first * 2 ** Math.min(failures - 1, 40));
  }
  if (backoff.length === 0) throw invalid('backoff', backoff, 'a time in ms, or a list of them');
  for (const each of backoff) check('backoff', each, waitRule);
  const times = [...backoff] as number[];
  return (failures) => times[Math.min(failures, times.length) - 1]!;
}
