/** A task, and its result, as records of a batch. */
import { deserialize, serialize } from 'node:v8';
import type { WireRecord } from '../../broker/wire.js';
import { isError } from '../../core/realm.cjs';
import { packed } from '../worker/error.cjs';

/** Flags of a task: its caller waits for a result; its caller may abort it while it runs. */
const ANSWERED = 1;
const ABORTABLE = 2;
/** A flag of a result. */
const FAILED = 1;

/** A task as its client stores it. */
export interface DurableTask {
  readonly id: string;
  /** Of its function; empty for the worker's usual one. */
  readonly name: string;
  /** 0: without limit. */
  readonly timeoutMs: number;
  /** How often it may fail; 0: what the worker says. */
  readonly attempts: number;
  readonly task: unknown;
  readonly isAnswered: boolean;
  readonly isAbortable: boolean;
}

/** Throws what `serialize()` of node:v8 throws for what cannot be cloned. */
export function encodeTask(task: DurableTask): WireRecord {
  const { id, name, timeoutMs, attempts, isAnswered, isAbortable } = task;
  return {
    flags: (isAnswered ? ANSWERED : 0) | (isAbortable ? ABORTABLE : 0),
    data: serialize([id, name, timeoutMs, attempts, task.task]),
  };
}

/** Throws for anything that is not a task. */
export function decodeTask({ flags, data }: WireRecord): DurableTask {
  const fields = deserialize(data);
  if (!Array.isArray(fields) || fields.length !== 5) throw new Error('it is no task');
  const [id, name, timeoutMs, attempts, task] = fields;
  const texts = [id, name].every((each) => typeof each === 'string');
  const numbers = [timeoutMs, attempts].every((each) => typeof each === 'number' && each >= 0);
  if (!texts || !numbers) throw new Error('it is no task');
  const isAnswered = (flags & ANSWERED) !== 0;
  return {
    id,
    name,
    timeoutMs,
    attempts,
    task,
    isAnswered,
    isAbortable: (flags & ABORTABLE) !== 0,
  };
}

/** The result of a task, or its error. */
interface Outcome {
  readonly id: string;
  readonly isFailed: boolean;
  readonly value: unknown;
}

/** Throws for what cannot be cloned. */
export function encodeResult(id: string, value: unknown): WireRecord {
  return { flags: 0, data: serialize([id, value]) };
}

/** The error of a task, with how often it was delivered. If it cannot be cloned, its text is sent. */
export function encodeError(id: string, error: unknown, deliveries: number): WireRecord {
  const [value, properties] = packed(error);
  try {
    return { flags: FAILED, data: serialize([id, value, { ...properties, deliveries }]) };
  } catch {
    const plain = new Error(textOf(error));
    return { flags: FAILED, data: serialize([id, plain, { deliveries }]) };
  }
}

/** Null for anything that is not a result. */
export function decodeOutcome({ flags, data }: WireRecord): Outcome | null {
  let fields: unknown;
  try {
    fields = deserialize(data);
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || typeof fields[0] !== 'string') return null;
  const [id, value, properties] = fields;
  const isFailed = (flags & FAILED) !== 0;
  if (isFailed && isError(value)) Object.assign(value, properties);
  return { id, isFailed, value };
}

/** What tells a task that is to be aborted from others, also from later ones of its id: its message is named by who sent it, too. */
export function cancelKey(sender: string, sequence: number, id: string): string {
  return `${sender}.${sequence}.${id}`;
}

/** What one process tells others; undefined for what cannot be read. */
export function read(payload: Uint8Array): unknown {
  try {
    return deserialize(payload);
  } catch {
    return undefined;
  }
}

/** One line of what an error says, for headers and logs. */
export function textOf(error: unknown): string {
  let text: string;
  try {
    const { name, message } = (error ?? {}) as Partial<Error>;
    text = message === undefined ? String(error) : `${name ?? 'Error'}: ${message}`;
  } catch {
    text = 'an error that cannot be shown';
  }
  return text.replace(/\s+/g, ' ').slice(0, 500);
}
