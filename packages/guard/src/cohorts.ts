/**
 * Cohorts of requests: groups that the application defines beside routes, such as its tenants. Cohorts of a class share the loop's time,
 * so that a cohort that floods the server waits, and is refused, before the others. Bounded: clients may make up names.
 */

/** Counters of one cohort. */
export class Cohort {
  readonly name: string;
  /** Requests run. */
  count = 0;
  shed = 0;
  /** Under `observe`: requests that would have been refused. */
  wouldShed = 0;
  /** Time for which its handlers kept the loop busy, in ms. */
  busyMs = 0;
  /** Requests that wait or are in progress: a cohort in use is not forgotten. */
  open = 0;

  constructor(name: string) {
    this.name = name;
  }

  ran(ms: number): void {
    this.count++;
    this.busyMs += ms;
  }
}

/** Longest name of a cohort; longer ones count as others. Otherwise clients could fill the memory with names. */
const maxName = 128;

export class CohortTable {
  readonly #max: number;
  readonly #cohorts = new Map<string, Cohort>();
  /** Cohort of requests without a name. */
  readonly none = new Cohort('(none)');
  /** Cohort for all names beyond the limit. Keeps the counts of forgotten cohorts, so that sums stay right. */
  readonly others = new Cohort('(others)');

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns the cohorts that had requests. */
  *values(): IterableIterator<Cohort> {
    for (const each of [...this.#cohorts.values(), this.none, this.others]) {
      if (each.count + each.shed + each.wouldShed > 0) yield each;
    }
  }

  /** Returns the cohort of a name. */
  byName(name: string | undefined): Cohort {
    if (name === undefined) return this.none;
    const known = this.#cohorts.get(name);
    if (known !== undefined) return known;
    if (name.length > maxName) return this.others;
    if (this.#cohorts.size >= this.#max) this.#forget();
    // Every cohort is in use.
    if (this.#cohorts.size >= this.#max) return this.others;
    const cohort = new Cohort(name);
    this.#cohorts.set(name, cohort);
    return cohort;
  }

  /** Forgets the half that used the loop least, so that a flood of made-up names does not evict real ones. */
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
