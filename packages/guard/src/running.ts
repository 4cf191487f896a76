/** Runs admitted requests in the application and records their cost on the loop until they are over. */
import { performance } from '@millrace/base/timers';
import { exempt } from './classes.js';
import type { Gate } from './gate.js';
import type { LoopTime } from './loop-time.js';
import type { Shadow } from './shadow.js';
import type { ClassCounts } from './stats.js';
import type { Ticket, TicketOwner } from './ticket.js';

export class Running {
  readonly #gate: Gate;
  readonly #time: LoopTime;
  readonly #shadow: Shadow | null;
  readonly #counts: readonly ClassCounts[];
  readonly #owner: TicketOwner;
  #size = 0;
  #tookMs = 0;

  /** `owner` is notified of the end of each request that outlasts its handler. */
  constructor(
    gate: Gate,
    time: LoopTime,
    shadow: Shadow | null,
    counts: readonly ClassCounts[],
    owner: TicketOwner,
  ) {
    this.#gate = gate;
    this.#time = time;
    this.#shadow = shadow;
    this.#counts = counts;
    this.#owner = owner;
  }

  /** Number of requests in progress in the application. */
  get size(): number {
    return this.#size;
  }

  /** Time in ms for which the last handler kept the loop busy. */
  get tookMs(): number {
    return this.#tookMs;
  }

  /** Passes a request to the application. Throws the error of its handler. */
  run(ticket: Ticket, now: number): void {
    const isNew = ticket.stage === 'new';
    if (isNew) ticket.hold();
    ticket.stage = 'running';
    ticket.startedMs = now;
    const { context } = ticket;
    ticket.context = null;
    this.#counts[ticket.cls]!.admitted++;
    this.#size++;
    try {
      if (context === null) ticket.run();
      else context.runInAsyncScope(ticket.run, ticket);
    } finally {
      this.#ran(ticket, isNew);
    }
  }

  /** Records that the response was sent, or that the client left, after the handler returned or while it ran. */
  closed(ticket: Ticket, now: number): void {
    const tookMs = now - ticket.startedMs;
    if (ticket.cls !== exempt) this.#gate.leave(ticket);
    this.#time.answered(tookMs);
    this.#over(ticket, now);
    this.#time.account(now);
  }

  /** Records the cost of a handler that has returned or thrown. */
  #ran(ticket: Ticket, isNew: boolean): void {
    const tookMs = performance.now() - ticket.startedMs;
    this.#tookMs = tookMs;
    const answered = ticket.finished();
    ticket.route.ran(tookMs, answered);
    this.#time.handled(ticket.startedMs, tookMs);
    ticket.cohort.ran(tookMs);
    this.#shadow?.ran(ticket, tookMs, answered);
    // The request ended while its handler ran.
    if (ticket.stage !== 'running') return;
    if (answered || ticket.gone()) {
      this.#over(ticket, ticket.startedMs + tookMs);
      return;
    }
    if (ticket.cls !== exempt) this.#gate.enter(ticket);
    if (!isNew) return;
    ticket.owner = this.#owner;
    ticket.watch();
  }

  #over(ticket: Ticket, now: number): void {
    ticket.stage = 'over';
    ticket.release();
    this.#size--;
    this.#shadow?.over(ticket, now);
  }
}
