/** What a worker makes of a record, and of what its task comes to; both fit into a message, or are errors that do. */
import type { WireRecord } from '../../broker/wire.js';
import { MillraceError } from '../../errors.js';
import { type DurableTask, decodeTask, encodeError, encodeResult, textOf } from './record.js';
import { tooLarge } from './too-large.js';

/** Null for anything that is not a task. */
export function taskOf(record: WireRecord | undefined): DurableTask | null {
  try {
    return decodeTask(record!);
  } catch {
    return null;
  }
}

/** A result; one that cannot be sent is an error, which the caller gets. */
export function resultOf(
  id: string,
  result: unknown,
  deliveries: number,
  maxPayload: number,
): WireRecord {
  let record: WireRecord;
  try {
    record = encodeResult(id, result);
  } catch (error) {
    const message = `the result cannot be sent: ${textOf(error)}; return plain data`;
    const bad = new MillraceError('MILLRACE_E_BAD_RESULT', message, { cause: error });
    return errorOf(id, bad, deliveries, maxPayload);
  }
  const error = tooLarge('the result', record.data.length, maxPayload);
  return error === null ? record : encodeError(id, error, deliveries);
}

/** An error, or the beginning of its text if it is too large for a message. */
export function errorOf(
  id: string,
  error: unknown,
  deliveries: number,
  maxPayload: number,
): WireRecord {
  const record = encodeError(id, error, deliveries);
  const large = tooLarge('the error', record.data.length, maxPayload);
  if (large === null) return record;
  const message = `${large.message}; it begins with ${textOf(error)}`;
  return encodeError(id, new MillraceError(large.code, message), deliveries);
}
