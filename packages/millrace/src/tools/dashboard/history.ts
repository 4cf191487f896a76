/** The last minutes, as they are sent to each viewer: a ring of events with consecutive numbers. */
import type { Point } from '@millrace/monitor/metrics';

/** Ten minutes of six processes, or of one and its threads; about 1 KB each. */
const mostEvents = 3600;
const keptMs = 600_000;
/** How many series of one process are kept; later ones are left out. */
const mostSeries = 2000;

/** The names of a process's series, in the order in which they came up. */
export class SeriesNames {
  readonly names: string[] = [];
  readonly #index = new Map<string, number>();

  /** The values in the order of the names; NaN where this sample has none. */
  row(points: readonly Point[]): Float64Array {
    const at = points.map((point) => this.#indexOf(seriesName(point)));
    const row = new Float64Array(this.names.length).fill(Number.NaN);
    points.forEach((point, n) => {
      if (at[n]! >= 0) row[at[n]!] = point.value;
    });
    return row;
  }

  #indexOf(name: string): number {
    const known = this.#index.get(name);
    if (known !== undefined) return known;
    if (this.names.length >= mostSeries) return -1;
    this.#index.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}

/** `name{label="value"}`, as Prometheus writes it. */
function seriesName({ name, labels }: Point): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

export type HistoryEvent =
  | { kind: 'sample'; process: string; at: number; names: readonly string[]; row: Float64Array }
  | { kind: 'forgotten'; at: number; data: { id: string } }
  | { kind: 'process' | 'mark' | 'report'; at: number; data: object };

export class History {
  #events: HistoryEvent[] = [];
  /** Number of the oldest event that is there. */
  first = 0;

  /** Number of the next event. */
  get next(): number {
    return this.first + this.#events.length;
  }

  add(event: HistoryEvent): void {
    this.#events.push(event);
    if (this.#events.length <= mostEvents && event.at - this.#events[0]!.at <= keptMs) return;
    // Seldom, and many at once, since the whole array is moved.
    const drop = Math.max(this.#events.length >> 3, 1);
    this.#events.splice(0, drop);
    this.first += drop;
  }

  at(number: number): HistoryEvent {
    return this.#events[number - this.first]!;
  }

  clear(): void {
    this.first = this.next;
    this.#events = [];
  }
}
