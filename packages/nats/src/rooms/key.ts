/**
 * The key of a message on its way to other nodes, in front of its payload: its length in two bytes, its type in one, and its text. Both
 * types of keys are compared there as here: a number has the text that JavaScript gives it. An event and an id for event streams travel in
 * the same form.
 */
import { MillraceError, show } from '@millrace/base/errors';

const [stringType, numberType] = [1, 2];
const head = 3;
const mostBytes = 65_535;

/** Bytes that a key, or what else has this form, takes; 0 for none. Throws MILLRACE_E_INVALID_ARGUMENT for one that cannot travel. */
export function keyBytes(key: unknown, name = 'key'): number {
  if (key === undefined) return 0;
  if (typeof key !== 'string' && typeof key !== 'number') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the ${name} of a message is ${show(key)}; with the option 'across' it must be a string or a number`,
    );
  }
  const bytes = Buffer.byteLength(String(key));
  if (bytes <= mostBytes) return head + bytes;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the ${name} of a message has ${bytes} bytes; with the option 'across' it must have at most ${mostBytes}`,
  );
}

/** A key that `keyBytes` has checked, and the payload after it: a copy. */
export function writeKey(key: unknown, payload: Buffer): Buffer {
  const bytes = keyBytes(key);
  const record = Buffer.allocUnsafe(bytes + payload.length);
  record.writeUInt16BE(bytes - head, 0);
  record[2] = typeof key === 'string' ? stringType : numberType;
  record.write(String(key), head);
  record.set(payload, bytes);
  return record;
}

/** The two again, the payload without a copy; null for a record that is malformed. */
export function readKey(record: Buffer): { key: string | number; data: Buffer } | null {
  if (record.length < head) return null;
  const end = head + record.readUInt16BE(0);
  const type = record[2];
  if (end > record.length || (type !== stringType && type !== numberType)) return null;
  const text = record.toString('utf8', head, end);
  const key = type === stringType ? text : Number(text);
  return { key, data: record.subarray(end) };
}
