/**
 * A task and its result as records of a batch: bytes on the wire. Values are cloned by `node:v8`. Whatever others send is
 * checked before it is used. A result or an error that does not fit into a message of the broker is replaced by an error
 * that does.
 */
import { deserialize, serialize } from 'node:v8';
import { packed } from '@millrace/base/cloned-error';
import { MillraceError } from '@millrace/base/errors';
import { isError } from '@millrace/base/realm';
import { batchHead, recordBytes, type WireRecord } from '../wire.js';
import { headerRoom } from './publisher.js';

/** Flags of a task: its caller waits for a result; its caller may abort it while it runs. */
const ANSWERED = 1;
const ABORTABLE = 2;
/** A flag of a result. */
const FAILED = 1;

/** A task as its client stores it. */
export interface DurableTask {
  readonly id: string;
  /** Of its function; empty for the worker's default one. */
  readonly name: string;
  /** 0: without limit. */
  readonly timeoutMs: number;
  /** Failures after which it is dead; 0: the worker's setting. */
  readonly attempts: number;
  readonly task: unknown;
  readonly isAnswered: boolean;
  readonly isAbortable: boolean;
}

/** Throws what `serialize()` of node:v8 throws for a task that cannot be cloned. */
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
  if (!Array.isArray(fields) || fields.length !== 5) throw new Error('it is not a task');
  const [id, name, timeoutMs, attempts, task] = fields;
  const texts = [id, name].every((each) => typeof each === 'string');
  const numbers = [timeoutMs, attempts].every((each) => typeof each === 'number' && each >= 0);
  if (!texts || !numbers) throw new Error('it is not a task');
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

/** Null for anything that is not a task. */
export function taskOf(record: WireRecord | undefined): DurableTask | null {
  try {
    return decodeTask(record!);
  } catch {
    return null;
  }
}

/** A result; one that cannot be cloned or does not fit is an error. */
export function encodeResult(
  id: string,
  result: unknown,
  deliveries: number,
  maxPayload: number,
): WireRecord {
  let data: Buffer;
  try {
    data = serialize([id, result]);
  } catch (error) {
    const message = `the result cannot be sent: ${textOf(error)}; return plain data`;
    const bad = new MillraceError('MILLRACE_E_BAD_RESULT', message, { cause: error });
    return encodeError(id, bad, deliveries, maxPayload);
  }
  const error = tooLarge('the result', data.length, maxPayload);
  return error === null ? { flags: 0, data } : errorRecord(id, error, deliveries);
}

/** An error with the number of deliveries, or the beginning of its text if it is too large for a message. */
export function encodeError(
  id: string,
  error: unknown,
  deliveries: number,
  maxPayload: number,
): WireRecord {
  const record = errorRecord(id, error, deliveries);
  const large = tooLarge('the error', record.data.length, maxPayload);
  if (large === null) return record;
  const message = `${large.message}; it begins with ${textOf(error)}`;
  return errorRecord(id, new MillraceError(large.code, message), deliveries);
}

/** An error that cannot be cloned is sent as its text. */
function errorRecord(id: string, error: unknown, deliveries: number): WireRecord {
  const [value, properties] = packed(error);
  try {
    return { flags: FAILED, data: serialize([id, value, { ...properties, deliveries }]) };
  } catch {
    const plain = new Error(textOf(error));
    return { flags: FAILED, data: serialize([id, plain, { deliveries }]) };
  }
}

/** The result of a task, or its error. */
interface Outcome {
  readonly id: string;
  readonly isFailed: boolean;
  readonly value: unknown;
}

/** Null for anything that is not a result. */
export function decodeOutcome({ flags, data }: WireRecord): Outcome | null {
  const fields = read(data);
  if (!Array.isArray(fields) || typeof fields[0] !== 'string') return null;
  const [id, value, properties] = fields;
  const isFailed = (flags & FAILED) !== 0;
  if (isFailed && isError(value)) Object.assign(value, properties);
  return { id, isFailed, value };
}

/** Tells a task that is to be aborted from others, also from later ones of its id: it names its message by the client, too. */
export function cancelKey(client: string, message: number, id: string): string {
  return `${client}.${message}.${id}`;
}

/** Decodes what one process tells others; undefined if it cannot be read. */
export function read(payload: Uint8Array): unknown {
  try {
    return deserialize(payload);
  } catch {
    return undefined;
  }
}

/** The error of data that does not fit into a message of the broker; null if it does. */
export function tooLarge(what: string, bytes: number, maxPayload: number): MillraceError | null {
  const most = maxPayload - headerRoom - batchHead - recordBytes(0);
  if (bytes <= most) return null;
  return new MillraceError(
    'MILLRACE_E_TOO_LARGE',
    `${what} has ${bytes} bytes, and the broker takes ${most}; send where the data is instead of the data, or raise max_payload of nats-server`,
  );
}

/** An error in one line, for headers and logs. */
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
