/**
 * The guard in shadow, option `observe`: every request runs at once, and a model computes the decision of a real guard.
 *
 * The model uses the guard's own queue, forecast and eviction, on a clock of its own. Its loop runs one request after another, each for
 * its real cost; a refused request costs nothing. The model follows reality by a turn of the loop.
 *
 * The arrival of a request is not observable: its bytes lay in the socket while the loop was busy. The model assumes that the requests of
 * one turn arrived evenly over the turn before, since the loop last polled its sockets; after a pause of the loop, just now.
 *
 * A response is late when the loop delayed it for longer than the longest wait of its class. The delay is the time since the arrival
 * minus the request's own time: that of its handler, or for an async handler the shortest time of its route so far. The delay is at most
 * the time for which the loop was busy without a pause: in a pause the request waited for something else, such as a database.
 *
 * Late responses that the model runs in time count as saved; responses in time that the model refuses count as lost.
 */
import { performance } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import { exempt } from './classes.js';
import { ageTolerance, Eviction } from './eviction.js';
import { Forecast } from './forecast.js';
import type { LoopTime } from './loop-time.js';
import type { CompleteOptions } from './options.js';
import type { ShedReason } from './reasons.js';
import { Replayed } from './replayed.js';
import type { ClassCounts } from './stats.js';
import type { Ticket } from './ticket.js';
import { Waiting } from './waiting.js';

/** Counts of all guards in shadow of this thread, closed ones included; without exempt requests. */
export interface ShadowTotals {
  /** Requests whose outcome is known. */
  requests: number;
  /** Requests that would have been refused. */
  refused: number;
  /** Responses that the loop delayed too long. */
  late: number;
  /** Late responses that would have been in time. */
  saved: number;
  /** Responses in time whose requests would have been refused. */
  lost: number;
}

const totals: ShadowTotals = { requests: 0, refused: 0, late: 0, saved: 0, lost: 0 };

/** Returns the counts of this thread's guards in shadow. A guard's `stats()` updates its share. */
export const shadowTotals = (): ShadowTotals => ({ ...totals });

/** The model has no async requests in progress: time after the handler has returned is part of the request's cost. */
const noGate = { size: 0 };

export class Shadow {
  readonly #options: CompleteOptions;
  readonly #time: LoopTime;
  readonly #counts: readonly ClassCounts[];
  readonly #maxWaitMs: readonly number[];
  readonly #waiting = new Waiting<Replayed>();
  readonly #forecast: Forecast;
  readonly #eviction: Eviction<Replayed>;
  /** Time at which the model's loop is free for the next request, in ms. */
  #freeMs = Number.NEGATIVE_INFINITY;
  #trimmedMs = 0;
  /** Requests of this turn, the loop's count of turns, and the time at which the first of them reached the guard. */
  #turn: Replayed[] = [];
  #turns = 0;
  #begunMs = Number.NEGATIVE_INFINITY;
  /** Time over which they arrived, in ms. */
  #spanMs = 0;

  readonly #turnOver = (): void => {
    const turn = this.#turn;
    this.#turn = [];
    turn.forEach((request, i) => {
      request.arrivedMs = this.#begunMs - this.#spanMs * (1 - (i + 0.5) / turn.length);
      this.#arrive(request);
    });
    this.#time.account(performance.now());
  };

  /** `maxWaitMs`: the limit of each class. */
  constructor(
    options: CompleteOptions,
    time: LoopTime,
    counts: readonly ClassCounts[],
    maxWaitMs: readonly number[],
  ) {
    this.#options = options;
    this.#time = time;
    this.#counts = counts;
    this.#maxWaitMs = maxWaitMs;
    this.#forecast = new Forecast(this.#waiting, noGate, time);
    this.#eviction = new Eviction(this.#waiting, this.#forecast, maxWaitMs, (request, reason) =>
      this.#refuse(request, reason),
    );
  }

  /** Records a request that will run. `limit`: a limit outside the guard that would have refused it. */
  arrived(ticket: Ticket, nowMs: number, limit: ShedReason | null = null): void {
    if (this.#turn.length === 0) {
      const { turns } = this.#time;
      const turnMs = (nowMs - this.#begunMs) / Math.max(1, turns - this.#turns);
      this.#spanMs = Math.min(turnMs, this.#time.busyFor(nowMs));
      this.#begunMs = nowMs;
      this.#turns = turns;
      // Requests come from the poll phase.
      atTurnEnd(this.#turnOver);
    }
    ticket.replayed = new Replayed(ticket, limit);
    this.#turn.push(ticket.replayed);
  }

  /** Records that the handler returned after `tookMs`. `answered`: the response was complete by then. */
  ran({ replayed }: Ticket, tookMs: number, answered: boolean): void {
    if (replayed === null) return;
    replayed.costMs = tookMs + this.#time.extraMs + (answered ? 0 : this.#time.asyncMs);
    replayed.isAsync = !answered;
  }

  /** Records that the response is complete, or that the client left. */
  over(ticket: Ticket, nowMs: number): void {
    const { replayed, route } = ticket;
    if (replayed === null) return;
    const tookMs = nowMs - ticket.startedMs;
    replayed.hasLeft = !ticket.finished();
    if (replayed.isAsync && !replayed.hasLeft) route.leastMs = Math.min(route.leastMs, tookMs);
    replayed.ownMs = replayed.isAsync ? Math.min(route.leastMs, tookMs) : tookMs;
    replayed.mostDelayMs = this.#time.busyFor(nowMs);
    replayed.endedMs = nowMs;
    this.#settle(replayed);
  }

  /** Advances the model to the last pause of the loop: later requests arrived after it. */
  catchUp(nowMs: number): void {
    this.#advance(nowMs - this.#time.busyFor(nowMs));
  }

  /** Runs the rest of the model's queue; no requests follow. */
  close(): void {
    this.#turnOver();
    this.#advance(Number.POSITIVE_INFINITY);
  }

  #advance(toMs: number): void {
    const { slice } = this.#options;
    while (this.#waiting.size > 0 && this.#freeMs < toMs) {
      const request = this.#waiting.take(false)!;
      if (request.hasLeft && request.endedMs <= this.#freeMs) {
        request.fate = 'dropped';
        this.#settle(request);
        continue;
      }
      const waitMs = this.#freeMs - request.arrivedMs;
      this.#forecast.learn(request.cls, waitMs, request.predictedMs);
      if (this.#eviction.aged(request, waitMs, this.#freeMs)) continue;
      this.#run(request);
      if (this.#freeMs - this.#trimmedMs < slice) continue;
      this.#trimmedMs = this.#freeMs;
      this.#eviction.trim(this.#freeMs);
    }
    if (this.#waiting.size === 0) this.#freeMs = Math.max(this.#freeMs, toMs);
  }

  #arrive(request: Replayed): void {
    const { cls, arrivedMs, limit } = request;
    this.#advance(arrivedMs);
    if (limit !== null) {
      this.#refuse(request, limit);
      return;
    }
    if (cls === exempt) {
      this.#run(request);
      return;
    }
    const underWayMs = Math.max(0, this.#freeMs - arrivedMs);
    request.predictedMs = underWayMs + this.#forecast.workBefore(cls, request);
    if (this.#forecast.waitFor(request.predictedMs, cls) > this.#maxWaitMs[cls]!) {
      this.#refuse(request, 'wait');
    } else if (
      this.#waiting.size >= this.#options.maxQueue &&
      !this.#eviction.makeRoom(request, arrivedMs)
    ) {
      this.#refuse(request, 'full');
    } else {
      this.#waiting.push(request);
    }
  }

  #run(request: Replayed): void {
    request.fate = 'run';
    this.#freeMs += request.costMs;
    this.#settle(request);
  }

  #refuse(request: Replayed, reason: ShedReason): void {
    request.fate = 'refused';
    request.cohort.wouldShed++;
    this.#counts[request.cls]!.wouldShed[reason]++;
    totals.refused++;
    this.#settle(request);
  }

  /** Counts a request once its real outcome and its outcome in the model are known. Called at both. */
  #settle(request: Replayed): void {
    const { cls, fate, arrivedMs, endedMs, hasLeft } = request;
    if (fate === 'open' || Number.isNaN(arrivedMs) || Number.isNaN(endedMs)) return;
    if (cls === exempt) return;
    const counts = this.#counts[cls]!;
    totals.requests++;
    if (request.delayMs > this.#maxWaitMs[cls]! * ageTolerance) {
      counts.late++;
      totals.late++;
      if (fate !== 'run') return;
      counts.wouldSave++;
      totals.saved++;
    } else if (fate === 'refused' && !hasLeft) {
      counts.wouldLose++;
      totals.lost++;
    }
  }
}
