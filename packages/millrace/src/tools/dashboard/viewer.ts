import type { ServerResponse } from 'node:http';
import { atTurnEnd } from '@millrace/base/turn';
import type { History, HistoryEvent } from './history.js';

/** Events of one piece: a long history must not hold up the application's loop. */
const atOnce = 50;
/** How long a browser that lost the connection waits before it tries again. */
const retryMs = 1000;

/**
 * A browser that watches: a place in the history from which server-sent events go to it. One that reads too slowly gets the
 * next event when it has read the last ones. One that is too late, because what it should get next has left the history, is
 * disconnected: it comes back by itself, and is told how things stand.
 */
export class Viewer {
  #next: number;
  /** Of each process, what this viewer has: so that only changes are sent. */
  readonly #has = new Map<string, Float64Array>();
  #waits = false;

  /**
   * @param boot distinguishes the numbers of this server from those of an earlier one on the same port
   * @param hello what is there now
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

  /** Of what came before, `hello` told the outcome: only samples and marks are sent. */
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
    // The page forgets it as well: a later one of its name is sent in full.
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
