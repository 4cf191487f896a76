// The reference model's policies and estimates; see model.js.

const SLICE = 25;
const LN2 = Math.log(2);

/** What a policy knows of the load, and the hold that it answers with. Times are in ms. */
export class Policy {
  /** @param options the options of the queue, live */
  constructor(options) {
    this.options = options;
    this.signals = {};
    this.busyTimes = []; // [from, to]
    this.left = 0; // events, in batches
    this.highest = 0; // rate of the types that were found pushed
    this.total = { rate: 0, folded: 0, fresh: 0 };
    this.found = new Set(); // types, since the last sample
    this.samples = [];
    this.share = 1;
    this.times = []; // per event
    this.offUntil = 0;
    this.backoff = 1000;
    this.restart();
  }

  maxDelay() {
    return this.options.max_delay ?? (this.options.policy === 'fixed' ? 50 : 0);
  }

  isAdaptive() {
    return this.options.policy === 'adaptive';
  }

  /** Whether rates and costs are kept. */
  isEstimating() {
    return this.isAdaptive() && this.maxDelay() > 0;
  }

  /** The hold for the open batch. */
  hold(now) {
    if (this.options.policy === 'direct') return 0;
    if (this.options.policy === 'fixed') return this.maxDelay();
    const law = this.law(now);
    if (this.maxDelay() === 0) return 0;
    if (this.options.hold === 'always' || law === 0) {
      this.throwAway();
      return law;
    }
    return this.compare(now) ? law : 0;
  }

  law(now) {
    const costs = this.costs();
    const { utilization = this.utilization(now), total = this.rate(now, this.total) } =
      this.signals;
    const { batch_cost: b = costs.batch_cost, hold_cost: c = costs.hold_cost } = this.signals;
    const w = this.options.min_saving * (1 - utilization) ** 2;
    const rate = this.highest;
    if (!(total > 0 && rate > 0 && b > 0)) return 0;
    const best = w === 0 ? Infinity : (Math.sqrt((total * rate * (b + c)) / w) - 1) / rate;
    const h = Math.min(best, this.maxDelay());
    return h > 0 && (total * (b + c)) / (1 + rate * h) + w * h < total * b ? h : 0;
  }

  // --- the comparison

  restart() {
    this.number = 0;
    this.window = null; // the time at which it began
    this.kinds = [true, false].map((held) => ({ held, windows: 0, time: 0, cpu: 0, events: 0 }));
  }

  throwAway() {
    if (this.window !== null) this.number++;
    this.window = null;
  }

  holds() {
    return this.number < 4 ? this.number % 2 === 1 : this.number % 16 !== 0;
  }

  /** Whether the law's hold counts. */
  compare(now) {
    if (now < this.offUntil) return false;
    const { saving, slowdown } = this.signals;
    if (saving !== undefined || slowdown !== undefined) {
      this.throwAway();
      return this.verdict(now, saving ?? 1, slowdown ?? 0, true);
    }
    if (this.window !== null) {
      const events = this.left - this.window.left;
      const time = now - this.window.time;
      if (time >= Math.min(1000, Math.max(50, 4 * this.maxDelay())) && events >= 8) {
        if (!this.ended(now, { time, events, cpu: this.busy() - this.window.busy })) return false;
      }
    }
    this.window ??= { time: now, busy: this.busy(), left: this.left };
    return this.holds();
  }

  ended(now, measured) {
    const [held, plain] = this.kinds;
    const kind = this.holds() ? held : plain;
    const sums = ['time', 'cpu', 'events'];
    if (kind === plain) for (const one of this.kinds) for (const key of sums) one[key] /= 2;
    for (const key of sums) kind[key] += measured[key];
    kind.windows++;
    this.number++;
    this.window = null;
    if (held.windows === 0 || plain.windows === 0) return true;
    const cpu = (one) => one.cpu / one.events;
    const rate = (one) => one.events / one.time;
    const chance = Math.sqrt(rate(plain) / plain.time + rate(held) / held.time);
    const more = rate(plain) - rate(held) > 3 * chance;
    this.saving = plain.cpu > 0 ? 1 - cpu(held) / cpu(plain) : null;
    this.slowdown = more ? 1 - rate(held) / rate(plain) : 0;
    const sure = held.windows >= 2 && plain.windows >= 2;
    return this.verdict(now, this.saving ?? 1, this.slowdown, sure);
  }

  /** False, and switched off, where holding does not pay. */
  verdict(now, saving, slowdown, sure) {
    if (slowdown > 0.05 || (sure && saving < 0.02)) {
      this.offUntil = now + this.backoff;
      this.backoff = Math.min(60000, this.backoff * 2);
      this.restart();
      return false;
    }
    if (sure) this.backoff = 1000;
    return true;
  }

  // --- the estimates

  busy() {
    return this.busyTimes.reduce((sum, [from, to]) => sum + to - from, 0);
  }

  utilization(now) {
    const start = Math.max(0, (Math.floor(now / SLICE) - 9) * SLICE);
    const busy = this.busyTimes.map(([from, to]) => Math.max(0, to - Math.max(from, start)));
    return now === start ? 0 : busy.reduce((a, b) => a + b, 0) / (now - start);
  }

  /** The engine's own rate of a type, or of all, decayed to now. */
  rate(now, type) {
    return type.rate * 2 ** (-(now - type.folded) / 100);
  }

  /** What a dispatch point does to the rates. */
  fold(now, types) {
    const touched = types.filter((type) => type.fresh > 0);
    this.total.fresh = touched.reduce((sum, type) => sum + type.fresh, 0);
    for (const one of [...types, this.total]) {
      one.rate = this.rate(now, one) + (one.fresh * LN2) / 100;
      one.folded = now;
      one.fresh = 0;
    }
    if (touched.length === 0) return;
    for (const type of touched) this.found.add(type);
    this.highest = Math.max(...touched.map((type) => type.signal ?? type.rate));
  }

  /** A batch of n events leaves at a dispatch point; to be told when its handlers are done, and that they took d ms. */
  handing(n) {
    const timed = this.isAdaptive() && this.options.max_batch_time > 0 && n >= 2;
    const sampled = this.isEstimating();
    return (now, d) => {
      if (timed) this.times = [...this.times, d / n].slice(-4);
      if (sampled) this.sample(now, n, d);
    };
  }

  sample(now, n, d) {
    this.samples.push({ now, n, d, g: Math.max(1, this.found.size) });
    this.found.clear();
    const { apart, batch_cost: b, event_cost: e } = this.costs();
    if (apart && b + e > 0) this.share = (b * this.sum('g', 'n')) / this.sum('both', 'n', b, e);
  }

  /** A sum over the samples as they have decayed; `both` is b·g + e·n. */
  sum(one, other, b, e) {
    const last = this.samples.at(-1)?.now;
    const value = (sample, key) => (key === 'both' ? b * sample.g + e * sample.n : sample[key]);
    return this.samples.reduce(
      (sum, sample) =>
        sum + value(sample, one) * value(sample, other) * 2 ** ((sample.now - last) / 1000),
      0,
    );
  }

  costs() {
    const { share } = this;
    const hold_cost = 0.05;
    if (this.samples.length === 0) return { batch_cost: 0, event_cost: 0, hold_cost };
    const [gg, gn, nn] = [this.sum('g', 'g'), this.sum('g', 'n'), this.sum('n', 'n')];
    const [gd, nd] = [this.sum('g', 'd'), this.sum('n', 'd')];
    const det = gg * nn - gn * gn;
    const apart = det > 0.001 * gg * nn;
    let [b, e] = [(gd * nn - nd * gn) / det, (gg * nd - gn * gd) / det];
    if (!apart) [b, e] = [(share * nd) / gn, ((1 - share) * nd) / nn];
    else if (b < 0) [b, e] = [0, nd / nn];
    else if (e < 0) [b, e] = [gd / gg, 0];
    return { apart, batch_cost: b, event_cost: e, hold_cost };
  }

  eventTime() {
    return this.times.length === 0 ? undefined : Math.min(...this.times);
  }

  /** Events that a batch may take at a dispatch point. */
  limit() {
    const { max_batch: most, max_batch_time: ms } = this.options;
    const time = this.signals.event_time ?? this.eventTime();
    if (!this.isAdaptive() || ms === 0 || time === undefined) return most;
    return Math.min(most, Math.max(1, Math.floor(ms / time)));
  }

  estimates(now) {
    const { batch_cost, event_cost, hold_cost } = this.costs();
    return {
      ...{ utilization: this.utilization(now), total: this.rate(now, this.total) },
      ...{ batch_cost, event_cost, hold_cost, event_time: this.eventTime() ?? 0 },
      ...{ saving: this.saving ?? 0, slowdown: this.slowdown ?? 0 },
    };
  }
}
