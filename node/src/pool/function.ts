/** What a function has cost so far: batches are made, and time is shared, by it. */
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
    // Many tell more than one: 8 at a time leave a tenth of what was known.
    const share = 1 - (1 - weight) ** count;
    this.meanMs = this.meanMs === null ? mean : this.meanMs + share * (mean - this.meanMs);
  }

  sent(count: number, totalMs: number): void {
    this.sendMs += weight * (totalMs / count - this.sendMs);
  }
}

/** Functions that are remembered; beyond it those without tasks are forgotten. */
const maxFunctions = 1000;

export class Functions {
  readonly #byKey = new Map<string, PoolFunction>();
  #nextId = 0;

  get(filename: string, name: string): PoolFunction {
    const key = `${name}\0${filename}`;
    let found = this.#byKey.get(key);
    if (found === undefined) {
      if (this.#byKey.size >= maxFunctions) this.#forget();
      found = new PoolFunction(this.#nextId++, filename, name);
      this.#byKey.set(key, found);
    }
    return found;
  }

  #forget(): void {
    for (const [key, each] of this.#byKey) {
      if (each.idle) this.#byKey.delete(key);
      if (this.#byKey.size < maxFunctions / 2) return;
    }
  }
}
