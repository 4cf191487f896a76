/**
 * When a batch leaves. A policy is a pure function of signals, options, its own state and the time; it returns how long the open batch
 * may be held and the next state. `fixed` holds for `maxDelay`. `adaptive` holds a batch only when the loop is busy, more is expected
 * for a destination of the batch, and the user allowed a delay; it watches what holding gains and switches it off, with exponential
 * back-off, when it gains nothing. Under the third policy, `direct`, the engine hands on each event as it is pushed and asks nobody.
 *
 * The estimators behind the signals are sums over time that keep no events and own no clock: the rate of a type, the gain of holding,
 * the utilization of a loop. The {@link Advisor} of each queue owns rate and gain, and keeps them only while they matter, under
 * `adaptive` with a `maxDelay`. The host owns the utilization.
 */
import type { QueueOptions } from './options.js';

/** The engine's estimates of the loop and of the destinations of the open batch. */
export interface Signals {
  /** Busy share of the loop, 0 to 1. */
  utilization: number;
  /** Events per ms: the highest rate among the queued types. */
  rate: number;
  /** Extra events a batch got from being held, on average over the holds on record. */
  gain: number;
  /** Holds on record, 0 to 16. */
  holds: number;
}

/** What a policy remembers between two questions. */
export interface PolicyState {
  /** Until this time (ms) holding is switched off. */
  readonly offUntil: number;
  /** How long holding is switched off the next time, in ms. */
  readonly backoff: number;
}

interface Decision {
  /** How long a batch may be held from the push of its oldest event, in ms; 0: not at all. */
  readonly hold: number;
  readonly state: PolicyState;
}

type Policy = (
  signals: Signals,
  config: Readonly<QueueOptions>,
  state: PolicyState,
  now: number,
) => Decision;

/** Below this busy share the loop has time to spare, and a hold only adds latency. */
const busyFrom = 0.6;
/** At this busy share and above the whole of `maxDelay` is used. */
const busyFull = 0.9;
/** Fewer expected or gained events a batch than this, and a hold costs more than it saves. */
const worthwhile = 0.5;
const backoffMs = { first: 1000, longest: 60_000 };

export const initialState: PolicyState = Object.freeze({ offUntil: 0, backoff: backoffMs.first });

/** A batch is held until it is full or `maxDelay` has passed since its oldest event: a predictable cadence. */
export const fixed: Policy = (_signals, config, state) => ({ hold: config.maxDelay, state });

export const adaptive: Policy = (signals, config, state, now) => {
  const { maxDelay } = config;
  if (maxDelay === 0) return { hold: 0, state };
  const next = config.hold === 'always' ? state : tune(signals.gain, signals.holds, state, now);
  const off = config.hold !== 'always' && now < next.offUntil;
  if (off || signals.utilization < busyFrom || signals.rate * maxDelay < worthwhile) {
    return { hold: 0, state: next };
  }
  const share = Math.min(1, (signals.utilization - busyFrom) / (busyFull - busyFrom));
  return { hold: maxDelay * share, state: next };
};

function tune(gain: number, holds: number, state: PolicyState, now: number): PolicyState {
  if (now < state.offUntil || holds < holdsOnRecord) return state;
  if (gain >= worthwhile) {
    return state.backoff === backoffMs.first ? state : { ...state, backoff: backoffMs.first };
  }
  return {
    offUntil: now + state.backoff,
    backoff: Math.min(state.backoff * 2, backoffMs.longest),
  };
}

// ---- gain: over the last 16 holds, how many more events the batch had than when the hold began

export const holdsOnRecord = 16;

export class Gain {
  readonly #extra: number[] = [];

  /** Records one hold: events in the batch that left, minus events queued when the hold began. */
  record(extra: number): void {
    this.#extra.push(extra);
    if (this.#extra.length > holdsOnRecord) this.#extra.shift();
  }

  clear(): void {
    this.#extra.length = 0;
  }

  /** Number of holds on record, 0 to 16. */
  get holds(): number {
    return this.#extra.length;
  }

  /** Mean extra events a batch; 0 without a record. */
  get value(): number {
    if (this.#extra.length === 0) return 0;
    return this.#extra.reduce((sum, extra) => sum + extra, 0) / this.#extra.length;
  }
}

// ---- rate: events of a type per ms, an exponentially weighted mean with a half-life of 100 ms

const halfLifeMs = 100;
/** An event adds this much and loses half of it every 100 ms, so a steady stream of r events per ms settles at r. */
const weight = Math.LN2 / halfLifeMs;

export interface Rate {
  /** Events per ms at `at`. */
  value: number;
  /** Time of the last update in ms. */
  at: number;
}

/** The rate decayed to `now`. */
export function readRate(rate: Rate, now: number): number {
  return rate.value === 0 ? 0 : rate.value * 2 ** (-(now - rate.at) / halfLifeMs);
}

/** Folds in `events` that were pushed since the last update. */
export function foldRate(rate: Rate, events: number, now: number): void {
  rate.value = readRate(rate, now) + events * weight;
  rate.at = now;
}

// ---- utilization: ten slices of 25 ms instead of a list of spans, so that memory and cost do not grow with turns

const sliceMs = 25;
const slices = 10;

/** The busy share of the loop over about 250 ms, the current slice included. The caller says which spans of time were how busy. */
export class Utilization {
  readonly #busy = new Float64Array(slices);
  /** Number of the newest slice that was written; all slices after `newest - slices` are valid. */
  #newest = 0;
  readonly #start: number;

  /** `start`: the time from which the loop is observed, in ms. */
  constructor(start = 0) {
    this.#start = start;
    this.#newest = Math.floor(start / sliceMs);
  }

  /** The loop was busy for `busy` ms of the span; they are spread evenly over it. Spans must not go back in time. */
  observe(from: number, to: number, busy: number): void {
    if (to <= from) return;
    const share = Math.min(1, busy / (to - from));
    const last = Math.floor(to / sliceMs);
    // Of a span longer than the window only the end can still be seen.
    let slice = Math.max(Math.floor(from / sliceMs), last - slices + 1);
    this.#advance(last);
    for (; slice <= last; slice++) {
      const begin = Math.max(from, slice * sliceMs);
      const end = Math.min(to, (slice + 1) * sliceMs);
      if (end > begin) this.#busy[slice % slices]! += (end - begin) * share;
    }
  }

  /** Busy share at `now`, 0 to 1. */
  read(now: number): number {
    const current = Math.floor(now / sliceMs);
    this.#advance(current);
    const begin = Math.max(this.#start, (current - slices + 1) * sliceMs);
    if (now <= begin) return 0;
    let busy = 0;
    for (const part of this.#busy) busy += part;
    return Math.min(1, busy / (now - begin));
  }

  #advance(slice: number): void {
    if (slice - this.#newest >= slices) this.#busy.fill(0);
    else for (let i = this.#newest + 1; i <= slice; i++) this.#busy[i % slices] = 0;
    if (slice > this.#newest) this.#newest = slice;
  }
}

// ---- advisor: what a queue knows that its policy needs

/** A type of events, as the estimates see it. */
interface RatedType {
  readonly type: unknown;
  readonly rate: Rate;
  /** Queued events. */
  readonly count: number;
  /** Events pushed since the rate was last updated. */
  fresh: number;
}

/** A queue that lists its types. */
interface RatedTypes {
  entries(): Iterable<RatedType>;
}

export class Advisor {
  #policy: Policy = adaptive;
  #state: PolicyState = initialState;
  readonly #gain = new Gain();
  readonly #utilization: (now: number) => number;
  /** Types pushed since the last dispatch point, whose rates wait for `fold`. */
  readonly touched: RatedType[] = [];
  /** Whether rates and gains matter. */
  estimating = false;
  /** Signals given from outside in place of the estimates, for tests and replays. */
  given: Partial<Signals> & { rates?: Map<unknown, number> } = {};

  /** `utilization` says how busy the loop is; asked only while it matters. */
  constructor(utilization: (now: number) => number) {
    this.#utilization = utilization;
  }

  configure({ policy, maxDelay }: QueueOptions): void {
    this.#policy = policy === 'fixed' ? fixed : adaptive;
    this.estimating = policy === 'adaptive' && maxDelay > 0;
  }

  /** An event of the type was pushed: no arithmetic yet. */
  pushed(entry: RatedType): void {
    if (entry.fresh++ === 0) this.touched.push(entry);
  }

  /** A dispatch point: brings the rates up to date. */
  fold(now: number): void {
    for (const entry of this.touched) {
      foldRate(entry.rate, entry.fresh, now);
      entry.fresh = 0;
    }
    this.touched.length = 0;
  }

  /** A held batch has left with this many events more than when its hold began. */
  held(extra: number): void {
    if (this.estimating) this.#gain.record(extra);
  }

  /** How long the open batch may be held from the push of its oldest event, in ms. */
  hold(queue: RatedTypes, options: QueueOptions, now: number): number {
    const decision = this.#policy(this.#signals(queue, now), options, this.#state, now);
    if (decision.state.offUntil !== this.#state.offUntil) this.#gain.clear();
    this.#state = decision.state;
    return decision.hold;
  }

  #signals(queue: RatedTypes, now: number): Signals {
    const { given } = this;
    const own = this.estimate(null, now);
    let rate = 0;
    if (this.estimating) {
      for (const entry of queue.entries()) {
        if (entry.count === 0) continue;
        const known = given.rates?.get(entry.type) ?? given.rate ?? readRate(entry.rate, now);
        rate = Math.max(rate, known);
      }
    }
    return {
      utilization: given.utilization ?? own.utilization,
      rate,
      gain: given.gain ?? own.gain,
      holds: given.holds ?? own.holds,
    };
  }

  /** The estimates, `rate` for one type. */
  estimate(entry: RatedType | null, now: number): Signals {
    return {
      utilization: this.estimating ? this.#utilization(now) : 0,
      gain: this.#gain.value,
      holds: this.#gain.holds,
      rate: entry === null ? 0 : readRate(entry.rate, now),
    };
  }
}
