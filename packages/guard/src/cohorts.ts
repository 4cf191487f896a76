/**
 * The cohorts of requests: what an application tells apart beside routes, such as its tenants. Cohorts of a class share the loop's time,
 * so that one which floods the server waits, and is refused, before the others. Bounded: names may be made up by clients.
 */

/** Requests of one cohort, counted. */
export class Cohort {
  readonly name: string;
  /** Requests that were run. */
  count = 0;
  shed = 0;
  /** Under `observe`: requests that would have been refused. */
  wouldShed = 0;
  /** Time that handlers of its requests held the loop, in ms. */
  busyMs = 0;
  /** Requests of it that wait or are being handled: a cohort in use is not forgotten. */
  open = 0;

  constructor(name: string) {
    this.name = name;
  }

  ran(ms: number): void {
    this.count++;
    this.busyMs += ms;
  }
}

/** Longer names stand for no cohort of their own: a thousand of them would take the memory that a thousand clients choose. */
const maxName = 128;

export class CohortTable {
  readonly #max: number;
  readonly #cohorts = new Map<string, Cohort>();
  /** Of requests for which the application names none. */
  readonly none = new Cohort('(none)');
  /** Stands for all that there is no room for; and keeps the counts of forgotten ones, so that sums stay right. */
  readonly others = new Cohort('(others)');

  constructor(max: number) {
    this.#max = max;
  }

  /** All that had requests. */
  *values(): IterableIterator<Cohort> {
    for (const each of [...this.#cohorts.values(), this.none, this.others]) {
      if (each.count + each.shed + each.wouldShed > 0) yield each;
    }
  }

  /** The cohort of that name. */
  byName(name: string | undefined): Cohort {
    if (name === undefined) return this.none;
    const known = this.#cohorts.get(name);
    if (known !== undefined) return known;
    if (name.length > maxName) return this.others;
    if (this.#cohorts.size >= this.#max) this.#forget();
    // All of them are in use.
    if (this.#cohorts.size >= this.#max) return this.others;
    const cohort = new Cohort(name);
    this.#cohorts.set(name, cohort);
    return cohort;
  }

  /** Forgets the half that held the loop least, so that a flood of made-up names does not drive out the real ones. */
  #forget(): void {
    const idle = [...this.#cohorts.values()].filter(({ open }) => open === 0);
    idle.sort((a, b) => a.busyMs - b.busyMs);
    for (const { name, count, shed, wouldShed, busyMs } of idle.slice(
      0,
      Math.ceil(this.#max / 2),
    )) {
      this.others.count += count;
      this.others.shed += shed;
      this.others.wouldShed += wouldShed;
      this.others.busyMs += busyMs;
      this.#cohorts.delete(name);
    }
  }
}
