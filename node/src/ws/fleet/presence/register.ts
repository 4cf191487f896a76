/** Who is present, by room and by node. */
import type { Presence } from './types.js';

/** A presence under the number that its node gave it. */
export interface Entry {
  readonly key: number;
  readonly room: string;
  readonly presence: Presence;
  /** Bytes that it had as a record. */
  readonly bytes: number;
}

/** An entry beside its bytes, in memory. */
const overheadBytes = 512;
/** Of all entries that other nodes have; they cost about as much memory. */
const defaultMostBytes = 2 ** 30;

export const costOf = ({ bytes }: Entry): number => bytes + overheadBytes;

export class Register {
  readonly #rooms = new Map<string, Set<Presence>>();
  readonly #nodes = new Map<string, Map<number, Entry>>();
  readonly #mostBytes: number;
  #bytes = 0;
  size = 0;

  constructor(mostBytes = defaultMostBytes) {
    this.#mostBytes = mostBytes;
  }

  /** Whether there is room for one more of another node. */
  fits(entry: Entry): boolean {
    return this.#bytes + costOf(entry) <= this.#mostBytes;
  }

  add(node: string, entry: Entry): void {
    let entries = this.#nodes.get(node);
    if (entries === undefined) {
      entries = new Map();
      this.#nodes.set(node, entries);
    }
    entries.set(entry.key, entry);
    const room = this.#rooms.get(entry.room);
    if (room === undefined) this.#rooms.set(entry.room, new Set([entry.presence]));
    else room.add(entry.presence);
    this.#bytes += costOf(entry);
    this.size++;
  }

  /** The entry that was there. */
  remove(node: string, key: number): Entry | undefined {
    const entries = this.#nodes.get(node);
    const entry = entries?.get(key);
    if (entry === undefined) return undefined;
    entries!.delete(key);
    if (entries!.size === 0) this.#nodes.delete(node);
    const room = this.#rooms.get(entry.room)!;
    room.delete(entry.presence);
    if (room.size === 0) this.#rooms.delete(entry.room);
    this.#bytes -= costOf(entry);
    this.size--;
    return entry;
  }

  of(node: string): Entry[] {
    return [...(this.#nodes.get(node)?.values() ?? [])];
  }

  has(node: string, key: number): boolean {
    return this.#nodes.get(node)?.has(key) === true;
  }

  in(room: string): Presence[] {
    return [...(this.#rooms.get(room) ?? [])];
  }
}
