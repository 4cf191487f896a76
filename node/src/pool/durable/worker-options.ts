/** The options of a worker of durable tasks. */
import type { BrokerOptions } from '../../broker/options.js';
import { check, integer, invalid, number } from '../../core/options.js';
import { MillraceError } from '../../errors.js';
import type { PoolOptions } from '../options.js';
import { type StreamOptions, type StreamSettings, streamSettings } from './stream-options.js';

/** Options of a pool that say something else of durable tasks, or nothing. */
type Unfit = 'broker' | 'stream' | 'retry' | 'maxQueue' | 'priority' | 'storeTimeout' | 'attempts';

/** Options of `serveTasks()`: those of the local pool that runs the tasks, and how they come. */
export interface WorkerOptions extends Omit<PoolOptions, Unfit> {
  /** The broker: a URL, or more about the connection. */
  broker: string | BrokerOptions;
  /** The stream: its name, or its name and bounds. */
  stream: string | StreamOptions;
  /** How often a task may fail before it is a dead letter: 1 to 1000. Default: 5. A task may say otherwise. */
  attempts?: number;
  /**
   * Time in ms before a task that has failed is begun again: that before each attempt, the last one for all further ones; or the
   * first one, which doubles up to an hour. Each 0 to 86,400,000. Default: 1000.
   */
  backoff?: number | readonly number[];
  /** Tasks of each priority that this process has at most, but for what a last message brings: 1 to 100,000. Default: as many as its threads do in 100 ms. */
  batch?: number;
  /** Time in ms after which a worker that says nothing has lost its tasks: 1000 to 3,600,000. Default: 30,000. It is the stream's: the last worker to start sets it. */
  ackWait?: number;
  /** Time in ms for which a result is kept for a client that is away: 0 to 86,400,000. Default: 30,000. */
  replyTimeout?: number;
}

/** The same with its defaults; the rest is for the pool. */
export interface WorkerSettings {
  readonly broker: string | BrokerOptions;
  readonly stream: StreamSettings;
  readonly attempts: number;
  /** The time in ms to wait after failure number `failures`, from 1 on. */
  readonly backoffMs: (failures: number) => number;
  /** Null: by what the threads do. */
  readonly batch: number | null;
  readonly ackWait: number;
  readonly replyTimeout: number;
  readonly closeTimeout: number;
  readonly pool: PoolOptions;
}

const waitRule = number(0, 86_400_000);
const hourMs = 3_600_000;
const unfit: Record<string, string> = {
  retry: '`attempts` says how often a task may fail',
  maxQueue: '`batch` says how many tasks it has',
  priority: 'a task comes with its priority',
  storeTimeout: 'it is of new Pool()',
};

/** Throws MILLRACE_E_INVALID_OPTION. What is the pool's is checked by it. */
export function workerSettings(given: WorkerOptions): WorkerSettings {
  if (typeof given !== 'object' || given === null) throw invalid('options', given, 'an object');
  for (const [name, why] of Object.entries(unfit)) {
    if ((given as unknown as Record<string, unknown>)[name] === undefined) continue;
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `serveTasks() takes no option '${name}': ${why}`,
    );
  }
  const {
    broker,
    stream,
    attempts = 5,
    backoff = 1000,
    batch = null,
    ackWait = 30_000,
    replyTimeout = 30_000,
    ...pool
  } = given;
  if (broker === undefined) throw invalid('broker', broker, "a URL as 'nats://127.0.0.1:4222'");
  check('attempts', attempts, integer(1, 1000));
  if (batch !== null) check('batch', batch, integer(1, 100_000));
  check('ackWait', ackWait, integer(1000, hourMs));
  check('replyTimeout', replyTimeout, waitRule);
  return {
    broker,
    stream: streamSettings(stream),
    attempts,
    backoffMs: backoffOf(backoff),
    batch,
    ackWait,
    replyTimeout,
    closeTimeout: pool.closeTimeout ?? 30_000,
    pool,
  };
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
