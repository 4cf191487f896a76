/** Responds in place of the application: with a stale copy if there is one, else with a delayed refusal. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { captureContext, runInContext } from '@millrace/base/context';
import { show } from '@millrace/base/errors';
import { performance } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import { classNames, low } from './classes.js';
import type { Forecast } from './forecast.js';
import type { CompleteOptions } from './options.js';
import type { ShedReason } from './reasons.js';
import { Rejections } from './rejections.js';
import type { ClassCounts } from './stats.js';
import type { Ticket } from './ticket.js';

/** Source of a response for a request that is about to be shed: a handler with stale copies of its answers. */
export interface StaleSource {
  /** Responds and returns true, or leaves the response alone and returns false. */
  answer(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean>;
}

export class Shedding {
  readonly #options: CompleteOptions;
  readonly #caches: ReadonlySet<StaleSource>;
  readonly #counts: readonly ClassCounts[];
  readonly #forecast: Forecast;
  readonly #rejections: Rejections;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(
    options: CompleteOptions,
    caches: ReadonlySet<StaleSource>,
    counts: readonly ClassCounts[],
    forecast: Forecast,
  ) {
    this.#options = options;
    this.#caches = caches;
    this.#counts = counts;
    this.#forecast = forecast;
    this.#rejections = new Rejections(options.rejectDelay);
  }

  /** Time of the last refusal, in ms. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Delay of refusals in use, in ms. */
  get delayMs(): number {
    return this.#rejections.delayMs;
  }

  /** Number of delayed refusals. */
  get held(): number {
    return this.#rejections.size;
  }

  /** Stops delaying refusals; called when the guard closes. */
  close(): void {
    this.#isClosed = true;
  }

  /** Sends the delayed refusals now. */
  flush(): void {
    this.#rejections.flush();
  }

  /** Sheds a request that has not run and is no longer queued. */
  shed(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    ticket.stage = 'shed';
    // Its response leaves from a shared timer, or from a slice.
    ticket.context ??= captureContext('auto');
    this.#lastMs = now;
    if (this.#caches.size === 0 || !ticket.hasResponse()) this.#refuse(ticket, reason, waitMs, now);
    else runInContext(ticket.context, () => void this.#answerStale(ticket, reason, waitMs), null);
  }

  async #answerStale(ticket: Ticket, reason: ShedReason, waitMs: number): Promise<void> {
    const { res } = ticket;
    const headers = res.getHeaders();
    for (const cache of this.#caches) {
      try {
        const answered = cache.answer(ticket.req, ticket.res);
        // Awaited only if it is a promise: an immediate response leaves in this turn.
        if (answered !== true && (answered === false || !(await answered))) continue;
        ticket.stage = 'over';
        this.#counts[ticket.cls]!.stale++;
        ticket.answered();
        return;
      } catch (error) {
        process.emitWarning(`A cache of the guard failed: ${show(error)}`, 'MillraceWarning');
        if (!res.headersSent) {
          // Headers of a copy that was not sent do not belong to a refusal.
          for (const name of res.getHeaderNames()) {
            if (!(name in headers)) res.removeHeader(name);
          }
          continue;
        }
        ticket.stage = 'over';
        this.#counts[ticket.cls]!.stale++;
        res.destroy();
        return;
      }
    }
    this.#refuse(ticket, reason, waitMs, performance.now());
  }

  #refuse(ticket: Ticket, reason: ShedReason, waitMs: number, now: number): void {
    const { onShed } = this.#options;
    this.#counts[ticket.cls]!.shed[reason]++;
    ticket.route.shed++;
    ticket.cohort.shed++;
    const rejection = { reason, waitMs, retryAfterSeconds: this.#retryAfter() };
    if (this.#isClosed) {
      ticket.stage = 'over';
      runInContext(ticket.context, () => ticket.shed(rejection), null);
    } else {
      this.#rejections.add(ticket, rejection, now);
    }
    if (onShed === null) return;
    try {
      onShed({
        class: classNames[ticket.cls]!,
        route: ticket.route.name,
        cohort: ticket.cohort.name,
        reason,
        waitMs,
        req: ticket.req,
      });
    } catch (error) {
      // Thrown later: other requests wait for this call.
      throwLater(error);
    }
  }

  /** Returns the seconds until the present queue is done, at least 1. */
  #retryAfter(): number {
    const { retryAfter } = this.#options;
    if (retryAfter !== 'auto') return retryAfter;
    const waitMs = this.#forecast.waitFor(this.#forecast.workBefore(low, null), low);
    return Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
  }
}
