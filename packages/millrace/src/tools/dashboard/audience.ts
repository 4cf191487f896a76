/** Who watches, and what was sent while somebody did. */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { History, type HistoryEvent } from './history.js';
import { Viewer } from './viewer.js';

/** How long the history is kept with nobody there, for a page that is loaded again. */
const keptUnwatchedMs = 60_000;

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

  /** Tells all of them. With nobody there, nothing is kept. */
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
