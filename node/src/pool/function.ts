/** What a function has cost so far: batches are sized, and time is shared, by it. */
import { Lane } from './lane.js';

/** How much a new mean counts against what was known. */
const weight = 1 / 4;

/** A function that tasks are for: an export of a file. */
export class PoolFunction {
  readonly id: number;
  readonly filename: string;
  readonly name: string;
  /** Those that wait, by priority. */
  readonly lanes: readonly [Lane, Lane, Lane];
  /** Mean time of a task in ms; null until one has ended. */
  meanMs: number | null = null;
  /** Mean time in ms that it takes this thread to send one of its tasks. */
  sendMs = 0;
  /** The pool knows it by a name, so it is not forgotten. */
  pinned = false;

  constructor(id: number, filename: string, name: string) {
    this.id = id;
    this.filename = filename;
    this.name = name;
    this.lanes = [new Lane(this), new Lane(this), new Lane(this)];
  }

  get idle(): boolean {
    return this.lanes.every((lane) => lane.size === 0);
  }

  /** The times of `count` tasks that ended took `totalMs` together. */
  ended(count: number, totalMs: number): void {
    const mean = totalMs / count;
    // Many say more than one: 8 at a time leave a tenth of what was known.
    const share = 1 - (1 - weight) ** count;
    this.meanMs = this.meanMs === null ? mean : this.meanMs + share * (mean - this.meanMs);
  }

  sent(count: number, totalMs: number): void {
    this.sendMs += weight * (totalMs / count - this.sendMs);
  }
}

/** Functions that are remembered beside the pinned ones; beyond it those without tasks are forgotten. */
const maxFunctions = 1000;

export class Functions {
  /** By file, and then by name: a key of both would have to be made for each call. */
  readonly #byFile = new Map<string, Map<string, PoolFunction>>();
  /** Those that are not pinned. */
  #count = 0;
  #nextId = 0;

  get(filename: string, name: string): PoolFunction {
    return this.#byFile.get(filename)?.get(name) ?? this.#add(filename, name);
  }

  /** The same; it is never forgotten. */
  pin(filename: string, name: string): PoolFunction {
    const pinned = this.get(filename, name);
    if (!pinned.pinned) this.#count--;
    pinned.pinned = true;
    return pinned;
  }

  #add(filename: string, name: string): PoolFunction {
    if (this.#count >= maxFunctions) this.#forget();
    const byName = this.#byFile.get(filename) ?? new Map<string, PoolFunction>();
    this.#byFile.set(filename, byName);
    const added = new PoolFunction(this.#nextId++, filename, name);
    byName.set(name, added);
    this.#count++;
    return added;
  }

  #forget(): void {
    for (const [filename, byName] of this.#byFile) {
      for (const [name, each] of byName) {
        if (each.idle && !each.pinned && byName.delete(name)) this.#count--;
      }
      if (byName.size === 0) this.#byFile.delete(filename);
      if (this.#count < maxFunctions / 2) return;
    }
  }
}
