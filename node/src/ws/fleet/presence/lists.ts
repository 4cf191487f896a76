/** Lists of members of other nodes that are on their way in several parts: bounded in bytes, all of them together. */
import { costOf, type Entry } from './register.js';

interface List {
  readonly version: number;
  readonly entries: Entry[];
  /** Number of the part that is to come. */
  next: number;
  bytes: number;
}

/** Of all lists. A node whose list did not fit is asked again at its next heartbeat. */
const defaultMostBytes = 64 * 1024 * 1024;

export class Lists {
  readonly #mostBytes: number;
  readonly #lists = new Map<string, List>();
  #bytes = 0;

  constructor(mostBytes = defaultMostBytes) {
    this.#mostBytes = mostBytes;
  }

  /** The list of a node begins anew. */
  begin(node: string, version: number): void {
    this.drop(node);
    this.#lists.set(node, { version, entries: [], next: 0, bytes: 0 });
  }

  /** The part is the one that is to come of a list of this version; otherwise one was lost. */
  expects(node: string, version: number, part: number): boolean {
    const list = this.#lists.get(node);
    return list !== undefined && list.version === version && list.next === part;
  }

  /** Adds the part that is to come. False, and the list is dropped, when there is no room for it. */
  add(node: string, entries: readonly Entry[]): boolean {
    const list = this.#lists.get(node)!;
    const bytes = entries.reduce((sum, entry) => sum + costOf(entry), 0);
    if (this.#bytes + bytes > this.#mostBytes) {
      this.drop(node);
      return false;
    }
    for (const entry of entries) list.entries.push(entry);
    list.next++;
    list.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Takes the list out if it has this many parts; null while some are to come. */
  take(node: string, parts: number): readonly Entry[] | null {
    const list = this.#lists.get(node)!;
    if (list.next < parts) return null;
    this.drop(node);
    return list.entries;
  }

  drop(node: string): void {
    this.#bytes -= this.#lists.get(node)?.bytes ?? 0;
    this.#lists.delete(node);
  }
}
