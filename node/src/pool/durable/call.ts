import type { WireRecord } from '../../broker/wire.js';
import { classOf, type PriorityClass } from '../../core/intake/priority.js';
import { performance } from '../../core/timers.cjs';
import { taskNotClonable } from '../failure.js';
import type { ClientContext } from './client-context.js';
import type { DurableCall } from './client-options.js';
import type { Stored } from './publisher.js';
import { encodeTask } from './record.js';
import { tooLarge } from './too-large.js';

/** A task of a client, until it is stored and, where somebody waits for it, answered. */
export interface Call {
  readonly id: string;
  /** The user has chosen its id: it is a message of its own. */
  readonly hasOwnId: boolean;
  readonly name: string;
  readonly priority: PriorityClass;
  readonly record: WireRecord;
  readonly createdMs: number;
  readonly deadlineMs: number;
  /** The number of its message, once it has one, and that of the message in the stream. */
  message: number;
  sequence: number;
  state: 'waiting' | 'sent' | 'stored' | 'gone';
  /** The broker has it. */
  stored(stored: Stored): void;
  reject(error: unknown): void;
}

/** What becomes of a call. */
export type CallFate = Pick<Call, 'stored' | 'reject'>;

/** Somebody waits for the result of an answered one. Throws for what cannot be cloned, or does not fit into a message. */
export function callOf(
  { settings, link }: ClientContext,
  id: string,
  task: unknown,
  options: DurableCall,
  isAnswered: boolean,
  fate: CallFate,
): Call {
  const { signal = null, timeout: timeoutMs = settings.timeout } = options;
  const { attempts = settings.attempts } = options;
  const name = options.name ?? settings.name;
  const isAbortable = signal !== null;
  const about = { id, name, timeoutMs, attempts, task, isAnswered, isAbortable };
  let record: WireRecord;
  try {
    record = encodeTask(about);
  } catch (error) {
    throw taskNotClonable(error);
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
    ...fate,
  };
}
