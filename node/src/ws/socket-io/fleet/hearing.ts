/** The subjects that are heard for a namespace: all, the node's own, and each room with a member here. */
import type { Link } from '../../../broker/link.js';
import { decodeBatch, type WireBatch } from '../../../broker/wire.js';
import { clearTimeout, setTimeout } from '../../../core/timers.cjs';
import { Expected } from '../../fleet/numbers.js';
import type { Counts } from '../../fleet/stats.js';
import { longestMs } from './requests.js';
import { common, nodeKey, roomKey, shortName, subjectOf } from './subjects.js';

export class Hearing {
  readonly #link: Link;
  readonly #namespace: string;
  readonly #counts: Counts;
  readonly #lingerMs: number;
  readonly #onBatch: (batch: WireBatch, name: number) => void;
  /** How to stop each, by key. */
  readonly #stops = new Map<string, () => void>();
  readonly #names = new Set<number>();
  /** Rooms without members that are still heard for a while, by key. */
  readonly #lingering = new Map<string, NodeJS.Timeout>();

  /** `lingerMs`: how long a room is heard after its last member has left, who may come back for what it got meanwhile. */
  constructor(
    link: Link,
    namespace: string,
    counts: Counts,
    lingerMs: number,
    onBatch: (batch: WireBatch, name: number) => void,
  ) {
    this.#link = link;
    this.#namespace = namespace;
    this.#counts = counts;
    this.#lingerMs = Math.min(lingerMs, longestMs);
    this.#onBatch = onBatch;
    this.#hear(common);
    this.#hear(nodeKey(link.node));
  }

  get size(): number {
    return this.#stops.size;
  }

  /** By its short name. */
  hears(name: number): boolean {
    return this.#names.has(name);
  }

  /** A room has its first member. */
  enter(room: string): void {
    const key = roomKey(room);
    if (key === null) return;
    clearTimeout(this.#lingering.get(key));
    this.#lingering.delete(key);
    if (!this.#stops.has(key)) this.#hear(key);
  }

  /** Its last one has left. */
  leave(room: string): void {
    const key = roomKey(room);
    if (key === null) return;
    if (this.#lingerMs === 0) {
      this.#stops.get(key)?.();
      return;
    }
    const stop = () => {
      this.#lingering.delete(key);
      this.#stops.get(key)?.();
    };
    this.#lingering.set(key, setTimeout(stop, this.#lingerMs).unref());
  }

  close(): void {
    for (const timer of this.#lingering.values()) clearTimeout(timer);
    this.#lingering.clear();
    for (const stop of this.#stops.values()) stop();
  }

  #hear(key: string): void {
    const name = shortName(key);
    const expected = new Expected();
    const stop = this.#link.subscribe(subjectOf(this.#link, this.#namespace, key), (payload) => {
      const batch = decodeBatch(payload);
      if (batch === null) this.#counts.malformed++;
      else if (this.#isNew(expected, batch)) this.#onBatch(batch, name);
    });
    this.#names.add(name);
    this.#stops.set(key, () => {
      this.#stops.delete(key);
      this.#names.delete(name);
      stop();
    });
  }

  #isNew(expected: Expected, { sender, sequence }: WireBatch): boolean {
    const seen = expected.seen(sender, sequence, 1);
    expected.reached(sender, sequence + 1);
    if (seen < 0) this.#counts.missed -= seen;
    else this.#counts.duplicates += seen;
    return seen <= 0;
  }
}
