/** The options of a pool whose tasks go to a broker. */
import type { BrokerOptions } from '../../broker/options.js';
import { classOf, type Priority, type PriorityClass } from '../../core/intake/priority.js';
import { check, checkKeys, integer, invalid, number } from '../../core/options.js';
import { MillraceError, show } from '../../errors.js';
import { AbortError, type AbortSource, isAborted, reasonOf } from '../failure.js';
import type { PoolOptions } from '../options.js';
import { type StreamSettings, streamSettings } from './stream-options.js';

export interface ClientSettings {
  readonly broker: string | BrokerOptions;
  readonly stream: StreamSettings;
  /** Empty: the worker's usual function. */
  readonly name: string;
  readonly priority: PriorityClass;
  readonly timeout: number;
  /** 0: what the worker says. */
  readonly attempts: number;
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly storeTimeout: number;
  readonly closeTimeout: number;
}

const maxMs = 2_147_483_647;
const rules = {
  timeout: number(0, maxMs),
  attempts: integer(1, 1000),
  maxQueue: integer(0, 100_000_000),
  maxBatch: integer(1, 512),
  storeTimeout: number(1, maxMs),
  closeTimeout: number(0, maxMs),
};
const known = ['broker', 'stream', 'name', 'priority', ...Object.keys(rules)];

/** Throws MILLRACE_E_INVALID_OPTION. */
export function clientSettings(options: PoolOptions): ClientSettings {
  for (const option of Object.keys(options)) {
    if (known.includes(option) || options[option as keyof PoolOptions] === undefined) continue;
    throw new MillraceError(
      'MILLRACE_E_INVALID_OPTION',
      `option '${option}' means nothing with 'broker': tasks run where serveTasks() is, which takes the options of threads; known here are ${known.join(', ')}`,
    );
  }
  const values = options as Record<string, unknown>;
  for (const [name, rule] of Object.entries(rules)) {
    if (values[name] !== undefined) check(name, values[name], rule);
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
    broker: options.broker!,
    stream,
    name: options.name ?? '',
    priority: classOf(options.priority ?? 'normal'),
    timeout: options.timeout ?? 0,
    attempts: options.attempts ?? 0,
    maxQueue: (options.maxQueue as number | undefined) ?? 100_000,
    maxBatch: options.maxBatch ?? 100,
    storeTimeout,
    closeTimeout: options.closeTimeout ?? 30_000,
  };
}

/** The options of a call. */
export interface DurableCall {
  name?: string | null;
  priority?: Priority;
  timeout?: number;
  attempts?: number;
  id?: string;
  signal?: AbortSource | null;
}

const callNames = ['name', 'priority', 'timeout', 'attempts', 'id', 'signal'];

/** Throws MILLRACE_E_INVALID_OPTION, also for what only a local pool can do; for a signal MILLRACE_E_INVALID_ARGUMENT, and MILLRACE_E_ABORTED if it is. */
export function checkCall(options: DurableCall): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (['filename', 'transferList', 'retry'].includes(name)) {
      throw new MillraceError(
        'MILLRACE_E_INVALID_OPTION',
        `option '${name}' means nothing with 'broker': tasks go by the names of functions, as copies, and \`attempts\` says how often they may fail`,
      );
    }
  }
  checkKeys('the options of run()', options, callNames);
  const { name, timeout, attempts, id, signal = null } = options;
  if (name != null && typeof name !== 'string') throw invalid('name', name, 'a string');
  if (timeout !== undefined) check('timeout', timeout, rules.timeout);
  if (attempts !== undefined) check('attempts', attempts, rules.attempts);
  if (id !== undefined && (typeof id !== 'string' || id === '' || id.length > 200)) {
    throw invalid('id', id, 'a string of 1 to 200 characters');
  }
  if (signal === null) return;
  if (typeof signal !== 'object' || !('once' in signal || 'addEventListener' in signal)) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `signal argument must be an object that says abort; it is ${show(signal)}`,
    );
  }
  if (isAborted(signal)) throw new AbortError(reasonOf(signal));
}
