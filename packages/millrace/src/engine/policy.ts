/**
 * When a batch leaves. `fixed` holds each batch for `maxDelay`. `adaptive` holds where that has been measured to pay: the law of
 * costs ({@link leastCostHold}) proposes a hold, and the {@link Comparison} with not holding disposes. Under the third policy,
 * `direct`, the engine hands on each event as it is pushed and asks nobody.
 *
 * A hold of h ms spreads what a batch costs beside its events over the `1 + rate * h` events that a destination gets meanwhile, and
 * delays each of them by h ms. `minSaving` is the price of that delay: the share of a core that each ms has to save. The busier the
 * loop, the lower the price, because a saturated loop loses more time to queueing than a hold takes. Cost and price together have one
 * minimum, the square-root law of lot sizes.
 *
 * The law can be wrong: costs may hide elsewhere, and senders that wait for an answer only slow down. So windows with and without
 * holding are compared by the busy time of the loop per event, and by the rate of events. Where holding saves nothing it is switched
 * off, and tried again after a back-off.
 *
 * The estimators behind it are sums over time that keep no events and own no clock: rates, costs, time per event, and the utilization
 * of a loop. All but the last belong to the {@link Advisor} of a queue, which keeps them only while they matter. A clock that goes
 * back, or gives NaN, cannot spoil them: time that went back counts as 0, and a duration that is none is left out.
 */
import type { QueueOptions } from './options.js';

/** ms from one time to another; 0 where the clock went back or gave NaN. */
function elapsed(from: number, to: number): number {
  const ms = to - from;
  return ms > 0 ? ms : 0;
}

// ---- the law of costs

/** Load and costs, as the law of costs sees them. */
interface Load {
  /** Busy share of the loop, 0 to 1. */
  utilization: number;
  /** Events per ms: the highest rate among the types that the last dispatch point found pushed. */
  rate: number;
  /** Events per ms of the whole queue. */
  total: number;
  /** ms that a batch costs beside its events, for each type in it. */
  batchCost: number;
  /** ms that holding a batch costs: its timer, and a turn of the loop. */
  holdCost: number;
}

/** Hold in ms under `fixed`: until the batch is full or `maxDelay` has passed since its oldest event, a predictable cadence. */
export const fixed = ({ maxDelay }: Readonly<QueueOptions>): number => maxDelay;

/** Hold in ms that makes delay and CPU together cheapest, from 0 to `maxDelay`. A pure function. */
export function leastCostHold(
  { utilization, rate, total, batchCost, holdCost }: Load,
  { maxDelay, minSaving }: Readonly<QueueOptions>,
): number {
  if (!(maxDelay > 0 && rate > 0 && total > 0 && batchCost > 0)) return 0;
  const price = minSaving * (1 - utilization) ** 2;
  const cost = batchCost + holdCost;
  const best = price === 0 ? maxDelay : (Math.sqrt((total * rate * cost) / price) - 1) / rate;
  const hold = Math.min(best, maxDelay);
  const pays = hold > 0 && (total * cost) / (1 + rate * hold) + price * hold < total * batchCost;
  return pays ? hold : 0;
}

// ---- comparison: windows that hold, and windows that do not

/** Reasons why no batch is held at present. */
type NotHolding =
  | 'no delay allowed'
  | 'not asked yet'
  | 'nothing to save'
  | 'saving is below the price'
  | 'comparison window'
  | 'no saving measured'
  | 'slows its senders down';

/** A loop that counts the ms that it has been busy so far. */
interface BusyLoop {
  busy(): number;
}

/** Windows of one kind, added up. */
class Windows {
  count = 0;
  /** Sums: ms, busy ms of the loop, events that left. Halved when they get old. */
  ms = 0;
  busyMs = 0;
  events = 0;

  add(ms: number, busyMs: number, events: number): void {
    this.count++;
    this.ms += ms;
    this.busyMs += busyMs;
    this.events += events;
  }

  halve(): void {
    this.ms /= 2;
    this.busyMs /= 2;
    this.events /= 2;
  }

  /** Events per ms. */
  get rate(): number {
    return this.events / this.ms;
  }
}

/** ms that a window lasts at least; between these bounds so many times `maxDelay`, so that it holds several batches. */
const windowMs = { shortest: 50, longest: 1000 };
const windowDelays = 4;
const windowEvents = 8;
/** The first windows, which alternate. */
const trial = 4;
/** After the trial one window in so many does not hold. */
const plainEach = 16;
/** Less saved CPU per event than this, and holding is switched off. */
const leastSaving = 0.02;
/** A greater fall of the rate than this, and senders wait for what is held. */
const mostSlowdown = 0.05;
/** Standard deviations of a Poisson rate; a fall within them is chance. */
const chance = 3;
const backoffMs = { first: 1000, longest: 60_000 };

/**
 * Compares holding with not holding. It is asked each time the law has a hold, and says whether that hold counts. A window is under
 * way from one such question to the first that finds it long enough. The law's own 0 throws a window away, with its number, so that
 * a load at which the law changes its mind often does not stay in a window without holding for good.
 */
export class Comparison {
  #held = new Windows();
  #plain = new Windows();
  /** Number of the window that is under way, or of the next one. */
  #number = 0;
  /** Start of the window that is under way. */
  #start: { now: number; busy: number; left: number } | null = null;
  #offUntil = 0;
  #backoff = backoffMs.first;
  #reason: NotHolding = 'no saving measured';
  /** Share of the CPU per event that holding saves; null while it is not known. */
  saving: number | null = null;
  /** Share by which the rate falls with holding; null while it is not known. */
  slowdown: number | null = null;

  /** Throws the window that is under way away: nothing is to be compared at present. */
  throwAway(): void {
    if (this.#start !== null) this.#number++;
    this.#start = null;
  }

  /** Null when the hold of the law counts, else why it does not. `left`: events that have left so far. */
  ask(now: number, left: number, loop: BusyLoop, maxDelay: number): NotHolding | null {
    if (this.#isOff(now)) return this.#reason;
    const start = this.#start;
    if (start !== null) {
      const { shortest, longest } = windowMs;
      const lasts = Math.min(longest, Math.max(shortest, windowDelays * maxDelay));
      const ms = now - start.now;
      const events = left - start.left;
      if (!(ms >= 0)) this.throwAway();
      else if (ms >= lasts && events >= windowEvents) {
        this.#end(ms, elapsed(start.busy, loop.busy()), events);
        if (!this.#judge(now)) return this.#reason;
      }
    }
    this.#start ??= { now, busy: loop.busy(), left };
    return this.#holds ? null : 'comparison window';
  }

  /** The same with a saving and a slowdown that are given; null: not known. */
  askGiven(now: number, saving: number | null, slowdown: number | null): NotHolding | null {
    if (this.#isOff(now)) return this.#reason;
    this.throwAway();
    return this.#verdict(now, saving, slowdown ?? 0, true) ? null : this.#reason;
  }

  /** A clock that went back does not keep holding off for longer than the longest back-off. */
  #isOff(now: number): boolean {
    return now < this.#offUntil && this.#offUntil - now <= backoffMs.longest;
  }

  get #holds(): boolean {
    return this.#number < trial ? this.#number % 2 === 1 : this.#number % plainEach !== 0;
  }

  #end(ms: number, busyMs: number, events: number): void {
    if (this.#holds) {
      this.#held.add(ms, busyMs, events);
    } else {
      // What is old counts less and less.
      this.#held.halve();
      this.#plain.halve();
      this.#plain.add(ms, busyMs, events);
    }
    this.#number++;
    this.#start = null;
  }

  #judge(now: number): boolean {
    const [held, plain] = [this.#held, this.#plain];
    if (held.count === 0 || plain.count === 0) return true;
    const known = plain.busyMs > 0;
    this.saving = known ? 1 - held.busyMs / held.events / (plain.busyMs / plain.events) : null;
    const fall = plain.rate - held.rate;
    const noise = chance * Math.sqrt(plain.rate / plain.ms + held.rate / held.ms);
    this.slowdown = fall > noise ? fall / plain.rate : 0;
    return this.#verdict(now, this.saving, this.slowdown, held.count >= 2 && plain.count >= 2);
  }

  /** Whether holding goes on. `sure`: the saving comes from enough windows to be judged. */
  #verdict(now: number, saving: number | null, slowdown: number, sure: boolean): boolean {
    const slows = slowdown > mostSlowdown;
    if (!slows && !(sure && saving !== null && saving < leastSaving)) {
      if (sure) this.#backoff = backoffMs.first;
      return true;
    }
    this.#reason = slows ? 'slows its senders down' : 'no saving measured';
    this.#offUntil = now + this.#backoff;
    this.#backoff = Math.min(this.#backoff * 2, backoffMs.longest);
    this.#held = new Windows();
    this.#plain = new Windows();
    this.#number = 0;
    this.#start = null;
    return false;
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
  return rate.value === 0 ? 0 : rate.value * 2 ** (-elapsed(rate.at, now) / halfLifeMs);
}

/** Folds in `events` that were pushed since the last update. */
export function foldRate(rate: Rate, events: number, now: number): void {
  rate.value = readRate(rate, now) + events * weight;
  rate.at = now;
}

// ---- costs of a batch and of an event: least squares over the batches that left, with a half-life of 1 s

const costHalfLifeMs = 1000;
/** Relative determinant below which batches are of one size, and the two costs cannot be told apart. */
const leastSpread = 0.001;

/** Cost in ms of a batch, for each type in it, and of each event, from how long batches took. Costs some multiplications a batch. */
export class Costs {
  /** Sums over batches of g types and n events that took d ms. */
  #gg = 0;
  #gn = 0;
  #nn = 0;
  #gd = 0;
  #nd = 0;
  #at = 0;
  /** Part of the time that is the batches' own, as long as sizes are all alike. At first all of it, so that a hold is tried. */
  #share = 1;
  batch = 0;
  event = 0;

  /** A batch of events of so many types has taken `ms`, and was done `now`. */
  add(types: number, events: number, ms: number, now: number): void {
    const decay = 2 ** (-elapsed(this.#at, now) / costHalfLifeMs);
    this.#at = now;
    const gg = this.#gg * decay + types * types;
    const gn = this.#gn * decay + types * events;
    const nn = this.#nn * decay + events * events;
    const gd = this.#gd * decay + types * ms;
    const nd = this.#nd * decay + events * ms;
    this.#gg = gg;
    this.#gn = gn;
    this.#nn = nn;
    this.#gd = gd;
    this.#nd = nd;
    const det = gg * nn - gn * gn;
    if (!(det > leastSpread * gg * nn)) {
      this.event = ((1 - this.#share) * nd) / nn;
      this.batch = (this.#share * nd) / gn;
      return;
    }
    this.batch = (gd * nn - nd * gn) / det;
    this.event = (gg * nd - gn * gd) / det;
    if (this.batch < 0) {
      this.batch = 0;
      this.event = nd / nn;
    } else if (this.event < 0) {
      this.event = 0;
      this.batch = gd / gg;
    }
    const all = this.batch * gn + this.event * nn;
    if (all > 0) this.#share = (this.batch * gn) / all;
  }
}

// ---- time per event: the least of four batches, as a thread that is preempted in one says nothing about its events

const timedBatches = 4;

/** ms that an event keeps the loop, from how long batches took. */
export class EventTime {
  readonly #last = new Float64Array(timedBatches).fill(Number.POSITIVE_INFINITY);
  #next = 0;
  /** Infinity while it is not known. */
  value = Number.POSITIVE_INFINITY;

  /** A batch has taken so many ms per event. */
  add(ms: number): void {
    const last = this.#last;
    last[this.#next] = ms;
    this.#next = (this.#next + 1) % timedBatches;
    this.value = Math.min(last[0]!, last[1]!, last[2]!, last[3]!);
  }
}

// ---- utilization: ten slices of 25 ms instead of a list of spans, so that memory and cost do not grow with turns

const sliceMs = 25;
const slices = 10;

/** The busy share of the loop over about 250 ms, the current slice included. The caller says which spans of time were how busy. */
export class Utilization {
  readonly #busy = new Float64Array(slices);
  /** Number of the newest slice that was written; all slices after `newest - slices` are valid. */
  #newest = 0;
  #start: number;

  /** `start`: the time from which the loop is observed, in ms. */
  constructor(start = 0) {
    this.#start = start;
    this.#newest = Math.floor(start / sliceMs);
  }

  /** The loop was busy for `busy` ms of the span; they are spread evenly over it. A span that goes back in time is left out. */
  observe(from: number, to: number, busy: number): void {
    if (!(to > from && busy >= 0)) return;
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
    if (current < this.#newest) this.#restart(now);
    const begin = Math.max(this.#start, (current - slices + 1) * sliceMs);
    if (now <= begin) return 0;
    let busy = 0;
    for (const part of this.#busy) busy += part;
    return Math.min(1, busy / (now - begin));
  }

  /** The clock went back: the slices are of a time that has not come yet. */
  #restart(now: number): void {
    this.#busy.fill(0);
    this.#newest = Math.floor(now / sliceMs);
    this.#start = now;
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
  readonly rate: Rate;
  /** Events pushed since the rate was last updated. */
  fresh: number;
  /** Number of the sample of costs for which it was last counted. */
  sample: number;
}

/** Estimates of a queue; 0 while they are not known. Rates are in events per ms, costs and times in ms. */
export interface Estimates extends Load {
  eventCost: number;
  eventTime: number;
  saving: number;
  slowdown: number;
}

/** Signals given from outside in place of the estimates, for tests and replays. */
export type Given = Partial<Omit<Estimates, 'eventCost'>>;

/** What the policy of a queue goes by, and what it decided last. Estimates are 0 while none are kept. */
export interface PolicyStats {
  /** Events per ms: the highest rate among the types that were pushed last. */
  rate: number;
  /** Events per ms of the whole queue. */
  total: number;
  /** ms that a batch costs beside its events, for each type in it, as measured. */
  batchCost: number;
  /** ms that an event costs, as measured. */
  eventCost: number;
  /** ms that holding a batch costs. */
  holdCost: number;
  /** Busy share of the loop, 0 to 1. */
  utilization: number;
  /** Hold that was last chosen, in ms; 0: the batch left at the end of its turn. */
  hold: number;
  /** Share of the CPU per event that holding was last measured to save, at most 1; null: not measured. */
  saving: number | null;
  /** Reason why no batch is held; null: batches are held. */
  why: NotHolding | null;
}

/** What an advisor needs of the host. */
interface Loop extends BusyLoop {
  readonly holdCost: number;
  utilization(now: number): number;
}

export class Advisor {
  readonly #loop: Loop;
  #options!: Readonly<QueueOptions>;
  /** Types pushed since the last dispatch point, whose rates wait for `fold`. */
  readonly touched: RatedType[] = [];
  /** Whether rates, costs and the comparison matter. */
  estimating = false;
  /** Whether the time per event matters. */
  timing = false;
  /** The highest rate among the types that the last dispatch point found pushed. */
  #rate = 0;
  readonly #total: Rate = { value: 0, at: 0 };
  /** Number of the next sample of costs, and the types that dispatch points have found pushed for it. */
  #sample = 1;
  #found = 0;
  readonly #costs = new Costs();
  readonly #eventTime = new EventTime();
  readonly #comparison = new Comparison();
  #given: Given = {};
  readonly #givenRates = new Map<RatedType, number>();
  #hold = 0;
  #why: NotHolding | null = 'not asked yet';

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  configure(options: Readonly<QueueOptions>): void {
    this.#options = options;
    const adaptive = options.policy === 'adaptive';
    this.estimating = adaptive && options.maxDelay > 0;
    this.timing = adaptive && options.maxBatchTime > 0;
  }

  /** From now on these signals count; `rate` for one type when it is named. */
  give(given: Given, type: RatedType | null): void {
    if (type !== null) {
      this.#givenRates.set(type, given.rate!);
      return;
    }
    if (given.rate !== undefined) this.#givenRates.clear();
    this.#given = { ...this.#given, ...given };
  }

  /** An event of the type was pushed: no arithmetic yet. */
  pushed(entry: RatedType): void {
    if (entry.fresh++ === 0) this.touched.push(entry);
  }

  /** A dispatch point: brings the rates up to date. */
  fold(now: number): void {
    let events = 0;
    let highest = 0;
    for (const entry of this.touched) {
      foldRate(entry.rate, entry.fresh, now);
      events += entry.fresh;
      entry.fresh = 0;
      if (entry.sample !== this.#sample) {
        entry.sample = this.#sample;
        this.#found++;
      }
      const rate = this.#givenRates.get(entry) ?? this.#given.rate ?? entry.rate.value;
      if (rate > highest) highest = rate;
    }
    foldRate(this.#total, events, now);
    this.#rate = highest;
    this.touched.length = 0;
  }

  /** A batch that left at a dispatch point has taken `ms`, and was done `now`. */
  handed(events: number, ms: number, now: number): void {
    const types = Math.max(1, this.#found);
    this.#found = 0;
    this.#sample++;
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return;
    if (this.timing && events > 1) this.#eventTime.add(ms / events);
    if (this.estimating) this.#costs.add(types, events, ms, now);
  }

  /** Events that a batch may take at a dispatch point. */
  limit(): number {
    const { maxBatch, maxBatchTime } = this.#options;
    const time = this.#given.eventTime ?? this.#eventTime.value;
    if (!this.timing || time === Number.POSITIVE_INFINITY) return maxBatch;
    return Math.max(1, Math.min(maxBatch, Math.floor(maxBatchTime / time)));
  }

  /** How long the open batch may be held from the push of its oldest event, in ms. `left`: events that have left so far. */
  hold(now: number, left: number): number {
    if (this.estimating) {
      this.#hold = this.#adaptive(now, left);
    } else {
      this.#hold = fixed(this.#options);
      this.#why = null;
    }
    return this.#hold;
  }

  #adaptive(now: number, left: number): number {
    const load = this.#load(now);
    const hold = leastCostHold(load, this.#options);
    if (hold === 0) {
      this.#why =
        load.batchCost > 0 && load.total > 0 ? 'saving is below the price' : 'nothing to save';
      this.#comparison.throwAway();
      return 0;
    }
    this.#why = this.#compare(now, left);
    return this.#why === null ? hold : 0;
  }

  #compare(now: number, left: number): NotHolding | null {
    const { saving, slowdown } = this.#given;
    if (this.#options.hold === 'always') {
      this.#comparison.throwAway();
      return null;
    }
    if (saving !== undefined || slowdown !== undefined) {
      return this.#comparison.askGiven(now, saving ?? null, slowdown ?? null);
    }
    return this.#comparison.ask(now, left, this.#loop, this.#options.maxDelay);
  }

  #load(now: number): Load {
    const given = this.#given;
    return {
      utilization: given.utilization ?? this.#loop.utilization(now),
      rate: this.#rate,
      total: given.total ?? readRate(this.#total, now),
      batchCost: given.batchCost ?? this.#costs.batch,
      holdCost: given.holdCost ?? this.#loop.holdCost,
    };
  }

  /** The queue's own estimates, `rate` for one type. */
  estimate(entry: RatedType | null, now: number): Estimates {
    const { value } = this.#eventTime;
    return {
      utilization: this.estimating ? this.#loop.utilization(now) : 0,
      rate: entry === null ? 0 : readRate(entry.rate, now),
      total: readRate(this.#total, now),
      batchCost: this.#costs.batch,
      eventCost: this.#costs.event,
      holdCost: this.#loop.holdCost,
      eventTime: value === Number.POSITIVE_INFINITY ? 0 : value,
      saving: this.#comparison.saving ?? 0,
      slowdown: this.#comparison.slowdown ?? 0,
    };
  }

  /** A copy of what is decided by, for users. */
  stats(now: number): PolicyStats {
    const { utilization, total, batchCost, eventCost, holdCost } = this.estimate(null, now);
    const { maxDelay, policy } = this.#options;
    const allowed = maxDelay > 0 && policy !== 'direct';
    return {
      rate: this.#rate,
      ...{ total, batchCost, eventCost, holdCost, utilization },
      hold: allowed ? this.#hold : 0,
      saving: this.#comparison.saving,
      why: allowed ? this.#why : 'no delay allowed',
    };
  }
}
