/** The presences of this node's members: as they are sent, with a version that each change raises by one. */
import { randomBytes } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { WireRecord } from '../../../broker/wire.js';
import { performance, wallClock } from '../../../core/timers.cjs';
import { MillraceError } from '../../../errors.js';
import type { Entry } from './register.js';
import type { Presence, PresenceOptions } from './types.js';

/** What a record says. */
export const JOIN = 1;
export const LEAVE = 2;

/** The age of a presence in ms when its record left, as a double, goes before the rest of the record. */
const ageBytes = 8;

interface Own {
  readonly bytes: Buffer;
  readonly joinedMs: number;
}

/** An entry as bytes. Throws MILLRACE_E_INVALID_ARGUMENT for data that cannot be cloned. */
function encodeEntry(key: number, room: string, { id, data }: Presence): Buffer {
  try {
    return Buffer.concat([Buffer.alloc(ageBytes), serialize([key, room, id, data])]);
  } catch (cause) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the data of a member cannot be cloned: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** The reverse; null for anything else. */
export function decodeEntry(node: string, bytes: Uint8Array): Entry | null {
  if (bytes.length <= ageBytes) return null;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const age = buffer.readDoubleBE(0);
  let value: unknown;
  try {
    value = deserialize(buffer.subarray(ageBytes));
  } catch {
    return null;
  }
  if (!Array.isArray(value) || !(age >= 0 && age < Number.POSITIVE_INFINITY)) return null;
  const [key, room, id, data] = value as unknown[];
  if (!Number.isSafeInteger(key) || typeof room !== 'string' || typeof id !== 'string') return null;
  // By the clock of this machine: those of others may be wrong.
  const presence: Presence = { node, id, data, since: wallClock.now() - age };
  return { key: key as number, room, presence, bytes: bytes.length };
}

const encodeKey = (key: number): Buffer => {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(key, 0, 6);
  return bytes;
};

/** Null for anything else. */
export const decodeKey = (bytes: Uint8Array): number | null =>
  bytes.length === 6 ? Buffer.from(bytes).readUIntBE(0, 6) : null;

export class OwnPresences {
  readonly #entries = new Map<number, Own>();
  readonly #node: string;
  #lastKey = 0;
  /** Changes that have left together as a version; 0: there never was one. */
  version = 0;
  #changes = new Map<number, WireRecord>();

  constructor(node: string) {
    this.#node = node;
  }

  /** `check` is given the number of bytes before anything changes, and may throw. */
  add(room: string, { id, data }: PresenceOptions, check: (bytes: number) => void): Entry {
    const name = id ?? randomBytes(9).toString('base64url');
    const presence: Presence = { node: this.#node, id: name, data, since: wallClock.now() };
    const key = this.#lastKey + 1;
    const bytes = encodeEntry(key, room, presence);
    check(bytes.length);
    const entry: Entry = { key, room, presence, bytes: bytes.length };
    this.#lastKey++;
    this.#entries.set(entry.key, { bytes, joinedMs: performance.now() });
    this.#changes.set(entry.key, { flags: JOIN, data: bytes });
    return entry;
  }

  remove(key: number): void {
    this.#entries.delete(key);
    // Nobody else has heard of it.
    if (this.#changes.get(key)?.flags === JOIN) this.#changes.delete(key);
    else this.#changes.set(key, { flags: LEAVE, data: encodeKey(key) });
  }

  get hasChanges(): boolean {
    return this.#changes.size > 0;
  }

  /** What has changed since the last call. */
  changes(): WireRecord[] {
    const records = [...this.#changes.values()];
    this.#changes = new Map();
    return records;
  }

  /** All of them, with their ages of now; what has changed must have been taken before. */
  all(): WireRecord[] {
    const now = performance.now();
    const records: WireRecord[] = [];
    for (const { bytes, joinedMs } of this.#entries.values()) {
      bytes.writeDoubleBE(now - joinedMs, 0);
      records.push({ flags: JOIN, data: bytes });
    }
    return records;
  }
}
