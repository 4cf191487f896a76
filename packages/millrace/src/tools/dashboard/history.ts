/**
 * History of a dashboard, and its viewers. {@link History} is a ring of the events of the last minutes, with consecutive numbers.
 * A {@link Viewer} is a browser: a place in the history, from which server-sent events go to it. A slow reader gets the next
 * event when it has read the last ones. A viewer whose next event has left the history is disconnected: it
 * reconnects by itself, and gets the current state. {@link Audience} owns both. Without viewers no events are kept, except those of the
 * last while, for a page that is reloaded.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import type { Point } from '@millrace/monitor/metrics';

/** Most events: ten minutes of six processes, or of one and its threads; about 1 KB each. */
const mostEvents = 3600;
const keptMs = 600_000;
/** Most series per process; later ones are dropped. */
const mostSeries = 2000;

/** Time in ms for which the history is kept without viewers. */
const keptUnwatchedMs = 60_000;
/** Events per write: a long history must not block the application's loop. */
const atOnce = 50;
/** Time in ms after which a browser that lost the connection tries again. */
const retryMs = 1000;

/** Names of a process's series, in order of appearance. */
export class SeriesNames {
  readonly names: string[] = [];
  readonly #index = new Map<string, number>();

  /** Values in the order of the names; NaN for a series without one in this sample. */
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

/** Formats a series as `name{label="value"}`, as Prometheus does. */
function seriesName({ name, labels }: Point): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

type HistoryEvent =
  | { kind: 'sample'; process: string; at: number; names: readonly string[]; row: Float64Array }
  | { kind: 'forgotten'; at: number; data: { id: string } }
  | { kind: 'process' | 'mark' | 'report' | 'watch'; at: number; data: object };

export class History {
  #events: HistoryEvent[] = [];
  /** Number of the oldest event kept. */
  first = 0;

  /** Number of the next event. */
  get next(): number {
    return this.first + this.#events.length;
  }

  add(event: HistoryEvent): void {
    this.#events.push(event);
    if (this.#events.length <= mostEvents && event.at - this.#events[0]!.at <= keptMs) return;
    // Rarely, and many at once, since the whole array is moved.
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

export class Viewer {
  #next: number;
  /** Known state of each process at this viewer, so that only changes are sent. */
  readonly #has = new Map<string, Float64Array>();
  #waits = false;

  /**
   * @param boot distinguishes the numbers of this server from those of an earlier one on the same port
   * @param hello the current state
   * @param lastId `Last-Event-ID` of a browser that was here before
   */
  constructor(
    readonly response: ServerResponse,
    readonly history: History,
    readonly boot: string,
    hello: object,
    lastId: string | undefined,
  ) {
    const last = lastId?.startsWith(`${boot}-`)
      ? Number(lastId.slice(boot.length + 1))
      : Number.NaN;
    const resumes = Number.isInteger(last) && last < history.next;
    this.#next = resumes ? Math.max(last + 1, history.first) : history.first;
    this.upTo = history.next;
    const data = JSON.stringify({ ...hello, boot, resumes });
    response.write(`retry: ${retryMs}\n\nevent: hello\ndata: ${data}\n\n`);
    response.on('drain', () => this.send());
    this.send();
  }

  /** `hello` has the outcome of earlier events: of those, only samples and marks are sent. */
  readonly upTo: number;

  send(): void {
    if (this.#waits || this.response.writableNeedDrain) return;
    if (this.#next < this.history.first) return void this.response.destroy();
    let text = '';
    for (let n = 0; n < atOnce && this.#next < this.history.next; n += 1, this.#next += 1) {
      text += this.#frame(this.history.at(this.#next), this.#next);
    }
    if (text !== '' && !this.response.write(text)) return;
    if (this.#next === this.history.next) return;
    this.#waits = true;
    atTurnEnd(() => {
      this.#waits = false;
      if (!this.response.destroyed) this.send();
    }).unref();
  }

  #frame(event: HistoryEvent, number: number): string {
    // The page forgets it as well: a later process of its name is sent in full.
    if (event.kind === 'forgotten') this.#has.delete(event.data.id);
    const isOld = number < this.upTo && event.kind !== 'sample' && event.kind !== 'mark';
    if (isOld) return '';
    const data = event.kind === 'sample' ? this.#changes(event) : event.data;
    return `id: ${this.boot}-${number}\nevent: ${event.kind}\ndata: ${JSON.stringify(data)}\n\n`;
  }

  #changes({ process, at, names, row }: HistoryEvent & { kind: 'sample' }): object {
    const had = this.#has.get(process);
    const values: Record<string, number | null> = {};
    row.forEach((value, n) => {
      if (had === undefined || n >= had.length || !Object.is(value, had[n])) {
        values[names[n]!] = Number.isFinite(value) ? value : null;
      }
    });
    this.#has.set(process, row);
    return { process, at, values };
  }
}

export class Audience {
  readonly #history = new History();
  readonly #viewers = new Set<Viewer>();
  readonly #boot = randomBytes(4).toString('hex');
  #clearing: NodeJS.Timeout | undefined;

  get size(): number {
    return this.#viewers.size;
  }

  /** @param left called when this viewer has gone */
  add(response: ServerResponse, lastId: string | undefined, hello: object, left: () => void): void {
    clearTimeout(this.#clearing);
    const viewer = new Viewer(response, this.#history, this.#boot, hello, lastId);
    this.#viewers.add(viewer);
    response.on('close', () => {
      this.#viewers.delete(viewer);
      if (this.size === 0) {
        this.#clearing = setTimeout(() => this.#history.clear(), keptUnwatchedMs).unref();
      }
      left();
    });
  }

  /** Sends an event to all viewers. Without viewers it is not kept. */
  tell(event: HistoryEvent): void {
    if (this.size === 0) return;
    this.#history.add(event);
    for (const viewer of this.#viewers) viewer.send();
  }

  close(): void {
    clearTimeout(this.#clearing);
    for (const { response } of this.#viewers) response.destroy();
  }
}
