/**
 * What a queue knows that its policy needs: the rates of its types, and what holding has brought. It keeps these only while
 * they matter, under `adaptive` with a `maxDelay`, and asks the policy.
 */
import type { QueueOptions } from '../queue-options.js';
import {
  adaptive,
  fixed,
  foldRate,
  Gain,
  initialState,
  type Policy,
  type PolicyState,
  readRate,
  type Signals,
} from './policy.js';
import type { QueueMap, TypeEntry } from './queue-map.js';

export class Advisor {
  #policy: Policy = adaptive;
  #state: PolicyState = initialState;
  readonly #gain = new Gain();
  /** Types pushed since the last dispatch point. */
  readonly #touched: TypeEntry[] = [];
  readonly #utilization: (now: number) => number;
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
  pushed(entry: TypeEntry): void {
    if (entry.fresh++ === 0) this.#touched.push(entry);
  }

  /** A dispatch point: brings the rates up to date. */
  fold(now: number): void {
    for (const entry of this.#touched) {
      foldRate(entry.rate, entry.fresh, now);
      entry.fresh = 0;
    }
    this.#touched.length = 0;
  }

  /** A held batch has left with this many events more than when its hold began. */
  held(extra: number): void {
    if (this.estimating) this.#gain.record(extra);
  }

  /** How long the open batch may be held from the push of its oldest event, in ms. */
  hold(queue: QueueMap, options: QueueOptions, now: number): number {
    // Without a delay there is nothing to ask: the common case costs no estimate.
    if (options.maxDelay === 0) return 0;
    const decision = this.#policy(this.#signals(queue, now), options, this.#state, now);
    if (decision.state.offUntil !== this.#state.offUntil) this.#gain.clear();
    this.#state = decision.state;
    return decision.hold;
  }

  #signals(queue: QueueMap, now: number): Signals {
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
  estimate(entry: TypeEntry | null, now: number): Signals {
    return {
      utilization: this.estimating ? this.#utilization(now) : 0,
      gain: this.#gain.value,
      holds: this.#gain.holds,
      rate: entry === null ? 0 : readRate(entry.rate, now),
    };
  }
}
