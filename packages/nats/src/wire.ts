/**
 * Format of messages between nodes: everything that one turn has for one subject, in one message.
 *
 *     'M'  version  0  0   sender (9 bytes)   sequence (6)   count (4)   then for each record: flags (1)  length (4)  bytes
 *
 * Numbers are big-endian. The sequence counts the batches of a sender on a subject, so that a receiver sees what it missed.
 */
import { createHash, randomBytes } from 'node:crypto';

/** Message of a batch. What its flags mean depends on the subject. */
export interface WireRecord {
  readonly flags: number;
  readonly data: Uint8Array;
}

export interface WireBatch {
  /** The node that sent it. */
  readonly sender: string;
  readonly sequence: number;
  readonly records: readonly WireRecord[];
}

const magic = 0x4d;
const version = 1;
const senderBytes = 9;
const recordHead = 5;
/** Bytes of a batch beside its records. */
export const batchHead = 4 + senderBytes + 6 + 4;

/** The name of a node: random, so that a process that starts anew is another node. 12 characters of base64url. */
export function newNode(): string {
  return randomBytes(senderBytes).toString('base64url');
}

/** Returns a Buffer over the same memory. */
export const bufferOf = (data: Uint8Array): Buffer =>
  Buffer.from(data.buffer, data.byteOffset, data.length);

/** The bytes that a record adds to its batch. */
export function recordBytes(dataBytes: number): number {
  return recordHead + dataBytes;
}

export function encodeBatch(
  sender: string,
  sequence: number,
  records: readonly WireRecord[],
): Buffer {
  let length = batchHead;
  for (const { data } of records) length += recordHead + data.length;
  const batch = Buffer.allocUnsafe(length);
  batch[0] = magic;
  batch[1] = version;
  batch[2] = 0;
  batch[3] = 0;
  batch.write(sender, 4, senderBytes, 'base64url');
  batch.writeUIntBE(sequence, 4 + senderBytes, 6);
  let at = batch.writeUInt32BE(records.length, 10 + senderBytes);
  for (const { flags, data } of records) {
    batch[at] = flags;
    at = batch.writeUInt32BE(data.length, at + 1);
    batch.set(data, at);
    at += data.length;
  }
  return batch;
}

/**
 * The reverse; null for what is incomplete, or not of this format. The records share the memory of `bytes`: whoever keeps
 * one for long should copy it.
 */
export function decodeBatch(bytes: Uint8Array): WireBatch | null {
  if (bytes.length < batchHead || bytes[0] !== magic || bytes[1] !== version) return null;
  const batch = bufferOf(bytes);
  const count = batch.readUInt32BE(10 + senderBytes);
  // It grows with what is there: a mere count costs no memory.
  const records: WireRecord[] = [];
  let at = batchHead;
  for (let index = 0; index < count; index++) {
    if (at + recordHead > batch.length) return null;
    const end = at + recordHead + batch.readUInt32BE(at + 1);
    if (end > batch.length) return null;
    records.push({ flags: batch[at]!, data: batch.subarray(at + recordHead, end) });
    at = end;
  }
  if (at !== batch.length) return null;
  const sender = batch.toString('base64url', 4, 4 + senderBytes);
  return { sender, sequence: batch.readUIntBE(4 + senderBytes, 6), records };
}

/**
 * Divides records, in their order, into batches of at most `maxBytes`. A record that is larger by itself makes a batch of
 * its own: whoever lets it in has checked that.
 */
export function* split(
  records: readonly WireRecord[],
  maxBytes: number,
): IterableIterator<readonly WireRecord[]> {
  let from = 0;
  let length = batchHead;
  for (let index = 0; index < records.length; index++) {
    const more = recordHead + records[index]!.data.length;
    if (length + more > maxBytes && index > from) {
      yield records.slice(from, index);
      from = index;
      length = batchHead;
    }
    length += more;
  }
  if (from === 0) yield records;
  else yield records.slice(from);
}

// ---- subjects: no name that a user chooses can reach one that is not its own

/** Characters of a token; NATS takes subjects up to the length of its control line, 4096 by default. */
const maxToken = 200;
const plain = /^[\w-]+$/;

/**
 * A token for any string: letters, digits, `-` and `_` stand for themselves, every other byte of its UTF-8 is written as
 * `=` and two hexadecimal digits, and what would become too long is `==` and its SHA-256. Different strings have
 * different tokens.
 */
export function token(name: string): string {
  if (name.length <= maxToken && plain.test(name)) return name;
  const bytes = Buffer.from(name);
  // A lone surrogate has no UTF-8, and two such names must not share a token.
  if (bytes.toString() !== name) return `==u${hash(Buffer.from(name, 'utf16le'))}`;
  const escaped = bytes.length <= maxToken ? spelled(bytes) : null;
  return escaped !== null && escaped.length <= maxToken ? escaped : `==${hash(bytes)}`;
}

function spelled(bytes: Buffer): string {
  let escaped = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    escaped += plain.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  }
  // A token has at least one character.
  return escaped === '' ? '=' : escaped;
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url');
