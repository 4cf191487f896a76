/**
 * Decides when a batch leaves. `fixed` holds each batch for `maxDelay`. `adaptive` holds where that has been measured to pay:
 * the law of costs ({@link leastCostHold}) proposes a hold, and the {@link Comparison} with not holding disposes. Under the
 * third policy, `direct`, the engine hands on each event as it is pushed and asks nobody.
 *
 * A hold of h ms spreads what a batch costs beside its events over the `1 + rate * h` events that a destination gets meanwhile, and
 * its own cost over all events of the batch; it delays each of them by h ms. `minSaving` is the price of that delay: the share of a core
 * that each ms has to save. The busier the loop, the lower the price, because a saturated loop loses more time to queueing than a hold
 * takes. Cost and price together have one minimum, the square-root law of lot sizes.
 *
 * The law can be wrong: costs may hide elsewhere, and senders that wait for an answer only slow down. So windows with and without
 * holding are compared by the busy time of the loop per event, and by the rate at which events are pushed. Where holding saves too
 * little, or less than it slows down, it is switched off, and tried again after a back-off.
 *
 * The size of a batch that is not held has a bound of its own, the {@link TimeLimit}: `maxBatchTime` is how long one batch may keep the
 * loop. A held batch is large because that pays.
 *
 * The estimators behind it are sums over time that keep no events and own no clock: rates, costs, and the utilization of a loop. All
 * but the last belong to the {@link Advisor} of a queue, which keeps them only while they matter. A clock that goes back, or gives NaN,
 * cannot spoil them: time that went back counts as 0, and a duration that is none is left out.
 *
 * All of it is one file, as in C and Go: who wants to know why a batch was held reads it from top to bottom.
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
  const spread = total * batchCost + rate * holdCost;
  const best = price === 0 ? maxDelay : (Math.sqrt((rate * spread) / price) - 1) / rate;
  const hold = Math.min(best, maxDelay);
  const used = (total * batchCost) / (1 + rate * hold) + (total * holdCost) / (1 + total * hold);
  const pays = hold > 0 && used + price * hold < total * batchCost;
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

/** Sums at an asking: since the beginning of the queue, and of its loop. */
interface Moment {
  now: number;
  busyMs: number;
  /** Events that left. */
  left: number;
  /** Events that were pushed. */
  pushed: number;
}

/** Sums of the windows of one kind. Halved when they get old. */
class Windows {
  count = 0;
  ms = 0;
  busyMs = 0;
  left = 0;
  pushed = 0;

  add(from: Moment, to: Moment): void {
    this.count++;
    this.ms += to.now - from.now;
    this.busyMs += elapsed(from.busyMs, to.busyMs);
    this.left += to.left - from.left;
    this.pushed += to.pushed - from.pushed;
  }

  halve(): void {
    this.ms /= 2;
    this.busyMs /= 2;
    this.left /= 2;
    this.pushed /= 2;
  }

  /** ms that the loop was busy per event. */
  get cost(): number {
    return this.busyMs / this.left;
  }
}

/** Bounds of the ms that a window lasts. One that holds lasts so many times `maxDelay`, so that it has several batches. */
const windowMs = { shortest: 50, longest: 1000 };
const windowDelays = 4;
const windowEvents = 8;
/** A window has settled when a batch is not smaller than so many times the one before, and after so many askings in any case. */
const settled = 0.9;
const settlesFor = 8;
/** The first windows, which alternate. */
const trial = 4;
/** Windows from one that does not hold to the next, after the trial; doubled each time. */
const distances = { first: 8, longest: 128 };
/** Least share of CPU saved per event; below it holding is switched off. */
const leastSaving = 0.02;
/** A greater fall of the rate than this, and senders wait for what is held. */
const mostSlowdown = 0.05;
/** Standard deviations within which a fall of the rate is chance. */
const chance = 4;
const backoffMs = { first: 1000, longest: 60_000 };

/** Time during which something that did not pay is left alone. */
class Backoff {
  #until = 0;
  #ms = backoffMs.first;

  /** A clock that went back does not keep it for longer than the longest one. */
  lasts(now: number): boolean {
    return now < this.#until && this.#until - now <= backoffMs.longest;
  }

  /** Begins one, and makes the next one so many times as long. */
  begin(now: number, growth: number): void {
    this.#until = now + this.#ms;
    this.#ms = Math.min(this.#ms * growth, backoffMs.longest);
  }

  /** The next one is as short as the first. */
  shorten(): void {
    this.#ms = backoffMs.first;
  }
}

/**
 * Compares holding with not holding. It is asked each time the law has a hold, and says whether that hold counts. Each window first
 * settles, until its batches are no longer shaped by what the kind before has left behind, and is measured from then on. The law's own 0
 * throws a window away, with its number, so that a load at which the law changes its mind often does not stay in a window without
 * holding for good.
 *
 * Rates are compared by what is pushed. A held window ends with events under way, which have not left although nobody waits for them.
 */
export class Comparison {
  readonly #loop: BusyLoop;
  #held = new Windows();
  #plain = new Windows();
  /** Number of the current window, and of the next one after the trial that does not hold. */
  #number = 0;
  #plainAt = distances.first;
  #distance = distances.first;
  /** Askings of the current window until its measured part began. */
  #askings = 0;
  /** Beginning of the measured part of the current window. */
  #start: Moment | null = null;
  /** Events that had left at the last asking, and how many of them since the one before. */
  #left = 0;
  #size = 0;
  readonly #backoff = new Backoff();
  #reason: NotHolding = 'no saving measured';
  /** Share of the CPU per event that holding saves; null while it is not known. */
  saving: number | null = null;
  /** Share by which the rate falls with holding; null while it is not known. */
  slowdown: number | null = null;

  constructor(loop: BusyLoop) {
    this.#loop = loop;
  }

  /** Throws the current window away: nothing is to be compared at present. */
  throwAway(): void {
    if (this.#askings > 0) this.#next();
  }

  /** Null when the hold of the law counts, else why it does not. `left`, `pushed`: events so far. */
  ask(now: number, left: number, pushed: number, maxDelay: number): NotHolding | null {
    if (this.#backoff.lasts(now)) return this.#reason;
    const before = this.#size;
    this.#size = left - this.#left;
    this.#left = left;
    const start = this.#start;
    if (start !== null && now >= start.now) {
      if (!this.#isWorthIt(start, now, left, pushed, maxDelay)) return this.#reason;
    } else {
      // The clock went back.
      if (start !== null) this.throwAway();
      const isSettled = ++this.#askings > 1 && this.#size >= settled * before;
      if (isSettled || this.#askings > settlesFor) {
        this.#start = { now, busyMs: this.#loop.busy(), left, pushed };
      }
    }
    return this.#holds ? null : 'comparison window';
  }

  /** Asks with a saving and a slowdown that are given; null: not known. */
  askGiven(now: number, saving: number | null, slowdown: number | null): NotHolding | null {
    if (this.#backoff.lasts(now)) return this.#reason;
    this.throwAway();
    return this.#verdict(now, saving, slowdown ?? 0, true) ? null : this.#reason;
  }

  get #holds(): boolean {
    return this.#number < trial ? this.#number % 2 === 1 : this.#number !== this.#plainAt;
  }

  #next(): void {
    if (this.#number === this.#plainAt) this.#plainAt += this.#distance;
    this.#number++;
    this.#askings = 0;
    this.#start = null;
  }

  /**
   * Reports whether holding goes on after what was measured in the current window so far; ends the window when it is long
   * enough.
   */
  #isWorthIt(start: Moment, now: number, left: number, pushed: number, maxDelay: number): boolean {
    const { shortest, longest } = windowMs;
    const isHeld = this.#holds;
    const lasts = isHeld
      ? Math.min(longest, Math.max(shortest, windowDelays * maxDelay))
      : shortest;
    const ms = now - start.now;
    if (ms >= lasts && left - start.left >= windowEvents) {
      return this.#end(start, { now, busyMs: this.#loop.busy(), left, pushed });
    }
    // In the trial senders that wait are not kept waiting for a whole window.
    if (!isHeld || this.#number >= trial || ms < shortest) return true;
    const held = this.#held;
    const slowdown = this.#slowdown(held.pushed + pushed - start.pushed, held.ms + ms);
    if (slowdown <= mostSlowdown) return true;
    this.slowdown = slowdown;
    return this.#verdict(now, null, slowdown, false);
  }

  #end(start: Moment, end: Moment): boolean {
    const isHeld = this.#holds;
    const [held, plain] = [this.#held, this.#plain];
    if (isHeld) {
      held.add(start, end);
    } else {
      // Old windows count less and less.
      held.halve();
      plain.halve();
      plain.add(start, end);
    }
    if (held.count > 0 && plain.count > 0) {
      const isSure = held.count > 1 && plain.count > 1;
      this.saving = plain.busyMs > 0 ? 1 - held.cost / plain.cost : null;
      this.slowdown = this.#slowdown(held.pushed, held.ms);
      // A saturated loop that does less may save a little, too little to be worth it.
      const net = this.saving === null ? null : this.saving - this.#fall(held.pushed, held.ms, 1);
      if (!this.#verdict(end.now, net, this.slowdown, isSure)) return false;
      if (isSure && !isHeld) this.#distance = Math.min(this.#distance * 2, distances.longest);
    }
    this.#next();
    return true;
  }

  /** Share by which the rate has fallen, less so many standard deviations of Poisson rates, when it is `pushed` in `ms` with holding. */
  #fall(pushed: number, ms: number, deviations: number): number {
    const plain = this.#plain;
    if (!(plain.pushed > 0)) return 0;
    const rate = plain.pushed / plain.ms;
    const deviation = Math.sqrt(rate / plain.ms + pushed / ms / ms);
    return Math.max(0, rate - pushed / ms - deviations * deviation) / rate;
  }

  #slowdown(pushed: number, ms: number): number {
    return this.#fall(pushed, ms, chance) > 0 ? this.#fall(pushed, ms, 0) : 0;
  }

  /** Reports whether holding goes on. `isSure`: the saving comes from enough windows to be judged. */
  #verdict(now: number, saving: number | null, slowdown: number, isSure: boolean): boolean {
    const slows = slowdown > mostSlowdown;
    if (!slows && !(isSure && saving !== null && saving < leastSaving)) {
      if (isSure) this.#backoff.shorten();
      return true;
    }
    this.#reason = slows ? 'slows its senders down' : 'no saving measured';
    // Senders that wait today will wait tomorrow, and each trial costs them throughput.
    this.#backoff.begin(now, slows ? 4 : 2);
    this.#held = new Windows();
    this.#plain = new Windows();
    this.#number = 0;
    this.#plainAt = distances.first;
    this.#distance = distances.first;
    this.#askings = 0;
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

// ---- time limit: events of a batch that take no longer than `maxBatchTime`, as long as smaller batches do not make them dearer

/** Events that a batch needs to say something about how long events take. */
const timedEvents = 8;
/** ms per event after a cut, in terms of those before it, from which on the cut does more harm than good. */
const dearer = 1.1;
/** Batches in a row that meet the limit and prove it good. */
const proof = 4;

/**
 * Limit on the events of a batch that is not held. It comes with the second batch in a row that takes too long, because a thread that is
 * preempted in one, or collects garbage, says nothing about the events. From then on only batches that meet the limit move it. Each batch
 * pays for its types: where smaller ones make the events dearer, the limit goes for a back-off, as a limit that went by the time per
 * event would take more and more of the throughput of a queue that has too little of it.
 */
export class TimeLimit {
  /** Events; Infinity: none. */
  events = Number.POSITIVE_INFINITY;
  /** Batches in a row that took too long, without a limit; and that met the limit. */
  #long = 0;
  #met = 0;
  /** ms per event without a limit. */
  #before = 0;
  readonly #backoff = new Backoff();

  /** A batch of so many events has taken `ms`, and was done `now`. */
  add(
    events: number,
    ms: number,
    now: number,
    { maxBatch, maxBatchTime }: Readonly<QueueOptions>,
  ): void {
    if ((events < timedEvents && events !== this.events) || this.#backoff.lasts(now)) return;
    const isLong = ms > maxBatchTime;
    if (this.events === Number.POSITIVE_INFINITY) {
      this.#long = isLong ? this.#long + 1 : 0;
      if (this.#long < 2) return;
      this.#long = 0;
      this.#met = 0;
      this.#before = ms / events;
      this.#fit(events, ms, maxBatchTime);
    } else if (events === this.events) {
      if (ms / events > dearer * this.#before) {
        this.events = Number.POSITIVE_INFINITY;
        this.#backoff.begin(now, 2);
        return;
      }
      if (++this.#met === proof) this.#backoff.shorten();
      if (isLong) this.#fit(events, ms, maxBatchTime);
      else if (ms < maxBatchTime / 2) this.#double(maxBatch);
    }
  }

  #fit(events: number, ms: number, maxBatchTime: number): void {
    this.events = Math.max(1, Math.floor((events * maxBatchTime) / ms));
  }

  #double(maxBatch: number): void {
    this.events *= 2;
    if (this.events >= maxBatch) this.events = Number.POSITIVE_INFINITY;
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
  /** Events; 0: there is none. */
  limit: number;
  saving: number;
  slowdown: number;
}

/** Signals given from outside in place of the estimates, for tests and replays. */
export type Given = Partial<Omit<Estimates, 'eventCost' | 'limit'>>;

/** Estimates of a queue's policy, and its last decision. Estimates are 0 while none are kept. */
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
  /** Events that a batch may have that is not held, so that it keeps to `maxBatchTime`; null: no limit but `maxBatch`. */
  limit: number | null;
  /** Share of the CPU per event that holding was last measured to save, at most 1; null: not measured. */
  saving: number | null;
  /** Reason why no batch is held; null: batches are held. */
  why: NotHolding | null;
}

/** The part of the host that an advisor needs. */
interface Loop extends BusyLoop {
  readonly holdCost: number;
  utilization(now: number): number;
}

export class Advisor {
  readonly #loop: Loop;
  #options!: Readonly<QueueOptions>;
  /** Types pushed since the last dispatch point, whose rates wait for `fold`. */
  readonly touched: RatedType[] = [];
  /** True if rates, costs and the comparison matter. */
  estimating = false;
  /** True if the time limit matters. */
  timing = false;
  /** The highest rate among the types that the last dispatch point found pushed. */
  #rate = 0;
  readonly #total: Rate = { value: 0, at: 0 };
  /** Number of the next sample of costs, and the types that dispatch points have found pushed for it. */
  #sample = 1;
  #found = 0;
  readonly #costs = new Costs();
  readonly #timeLimit = new TimeLimit();
  readonly #comparison: Comparison;
  #given: Given = {};
  readonly #givenRates = new Map<RatedType, number>();
  #hold = 0;
  #why: NotHolding | null = 'not asked yet';

  constructor(loop: Loop) {
    this.#loop = loop;
    this.#comparison = new Comparison(loop);
  }

  configure(options: Readonly<QueueOptions>): void {
    this.#options = options;
    const adaptive = options.policy === 'adaptive';
    this.estimating = adaptive && options.maxDelay > 0;
    this.timing = adaptive && options.maxBatchTime > 0;
  }

  /** Overrides signals from now on; `rate` for one type when it is named. */
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

  /** Reports whether the batch about which the policy was asked last leaves in a window that does not hold. */
  get isComparing(): boolean {
    return this.#why === 'comparison window';
  }

  /** A batch that left at a dispatch point has taken `ms`, and was done `now`. `limits`: its time counts for the limit. */
  handed(events: number, ms: number, now: number, limits: boolean): void {
    const types = Math.max(1, this.#found);
    this.#found = 0;
    this.#sample++;
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) return;
    if (this.timing && limits) this.#timeLimit.add(events, ms, now, this.#options);
    if (this.estimating) this.#costs.add(types, events, ms, now);
  }

  /** Events that a batch may take that is not held. */
  limit(): number {
    const { maxBatch } = this.#options;
    return this.timing ? Math.min(maxBatch, this.#timeLimit.events) : maxBatch;
  }

  /** Events from which on it matters how long a batch that is not held takes. */
  timedFrom(): number {
    if (this.estimating) return 0;
    return this.timing ? Math.min(timedEvents, this.#timeLimit.events) : Number.POSITIVE_INFINITY;
  }

  /** Hold of the open batch in ms, from the push of its oldest event. `left`, `pushed`: events so far. */
  hold(now: number, left: number, pushed: number): number {
    if (this.estimating) {
      this.#hold = this.#adaptive(now, left, pushed);
    } else {
      this.#hold = fixed(this.#options);
      this.#why = null;
    }
    return this.#hold;
  }

  #adaptive(now: number, left: number, pushed: number): number {
    const load = this.#load(now);
    const hold = leastCostHold(load, this.#options);
    if (hold === 0) {
      this.#why =
        load.batchCost > 0 && load.total > 0 ? 'saving is below the price' : 'nothing to save';
      this.#comparison.throwAway();
      return 0;
    }
    this.#why = this.#compare(now, left, pushed);
    return this.#why === null ? hold : 0;
  }

  #compare(now: number, left: number, pushed: number): NotHolding | null {
    const { saving, slowdown } = this.#given;
    if (this.#options.hold === 'always') {
      this.#comparison.throwAway();
      return null;
    }
    if (saving !== undefined || slowdown !== undefined) {
      return this.#comparison.askGiven(now, saving ?? null, slowdown ?? null);
    }
    return this.#comparison.ask(now, left, pushed, this.#options.maxDelay);
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
    const { events } = this.#timeLimit;
    return {
      utilization: this.estimating ? this.#loop.utilization(now) : 0,
      rate: entry === null ? 0 : readRate(entry.rate, now),
      total: readRate(this.#total, now),
      batchCost: this.#costs.batch,
      eventCost: this.#costs.event,
      holdCost: this.#loop.holdCost,
      limit: this.timing && events < Number.POSITIVE_INFINITY ? events : 0,
      saving: this.#comparison.saving ?? 0,
      slowdown: this.#comparison.slowdown ?? 0,
    };
  }

  /** A copy of what is decided by, for users. */
  stats(now: number): PolicyStats {
    const { utilization, total, batchCost, eventCost, holdCost, limit } = this.estimate(null, now);
    const { maxDelay, policy } = this.#options;
    const allowed = maxDelay > 0 && policy !== 'direct';
    return {
      rate: this.#rate,
      ...{ total, batchCost, eventCost, holdCost, utilization },
      hold: allowed ? this.#hold : 0,
      limit: limit === 0 ? null : limit,
      saving: this.#comparison.saving,
      why: allowed ? this.#why : 'no delay allowed',
    };
  }
}
