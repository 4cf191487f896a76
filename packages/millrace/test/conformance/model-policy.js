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
    this.pushed = 0;
    this.askings = []; // events that had left at each, while the comparison was asked
    this.highest = 0; // rate of the types that were found pushed
    this.total = { rate: 0, folded: 0, fresh: 0 };
    this.found = new Set(); // types, since the last sample
    this.samples = [];
    this.share = 1;
    this.comparing = false; // the batch that is judged leaves in a window that does not hold
    this.most = null; // the limit by time
    this.over = 0; // batches in a row that took too long, without a limit
    this.met = 0; // batches in a row that met the limit
    this.before = 0; // ms per event when it was set
    this.comparison = { offUntil: 0, backoff: 1000 };
    this.size = { offUntil: 0, backoff: 1000 };
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
    const best = w === 0 ? Infinity : (Math.sqrt((rate * (total * b + rate * c)) / w) - 1) / rate;
    const h = Math.min(best, this.maxDelay());
    const least = (total * b) / (1 + rate * h) + (total * c) / (1 + total * h) + w * h;
    return h > 0 && least < total * b ? h : 0;
  }

  // --- the comparison

  restart() {
    this.number = 0;
    this.plainAt = 8;
    this.distance = 8;
    this.own = 0; // askings of the window
    this.window = null; // what there was when its measured part began
    const nothing = { windows: 0, time: 0, cpu: 0, left: 0, pushed: 0 };
    this.held = { ...nothing };
    this.plain = { ...nothing };
  }

  throwAway() {
    if (this.own > 0) this.next();
  }

  next() {
    if (this.number === this.plainAt) this.plainAt += this.distance;
    this.number++;
    this.own = 0;
    this.window = null;
  }

  holds() {
    return this.number < 4 ? this.number % 2 === 1 : this.number !== this.plainAt;
  }

  /** Whether the law's hold counts. */
  compare(now) {
    if (now < this.comparison.offUntil) return false;
    const { saving, slowdown } = this.signals;
    if (saving !== undefined || slowdown !== undefined) {
      this.throwAway();
      return this.verdict(now, { saving: saving ?? 1, slowdown: slowdown ?? 0, sure: true });
    }
    this.askings.push(this.left);
    if (this.window === null) this.settle(now);
    else if (!this.look(now)) return false;
    this.comparing = !this.holds();
    return this.holds();
  }

  settle(now) {
    this.own++;
    const [c, b = 0, a = 0] = this.askings.slice(-3).reverse();
    const settled = this.own >= 2 && c - b >= 0.9 * (b - a);
    if (settled || this.own >= 9)
      this.window = { time: now, cpu: this.busy(), left: this.left, pushed: this.pushed };
  }

  /** False when that switched holding off. */
  look(now) {
    const [kind, { window }] = [this.holds() ? this.held : this.plain, this];
    const measured = {
      time: now - window.time,
      cpu: this.busy() - window.cpu,
      left: this.left - window.left,
      pushed: this.pushed - window.pushed,
    };
    const lasts = kind === this.plain ? 50 : Math.min(1000, Math.max(50, 4 * this.maxDelay()));
    if (measured.time >= lasts && measured.left >= 8) return this.ended(now, kind, measured);
    if (kind === this.plain || this.number >= 4 || measured.time < 50) return true;
    const slowdown = this.slowdownOf(sumOf(this.held, measured));
    if (slowdown <= 0.05) return true;
    this.slowdown = slowdown;
    return this.switchOff(now, 4);
  }

  ended(now, kind, measured) {
    const holds = kind === this.held;
    if (!holds) {
      this.held = halved(this.held);
      this.plain = { ...sumOf(halved(this.plain), measured), windows: this.plain.windows + 1 };
    } else {
      this.held = { ...sumOf(this.held, measured), windows: this.held.windows + 1 };
    }
    const { held, plain } = this;
    if (held.windows > 0 && plain.windows > 0) {
      const cpu = (one) => one.cpu / one.left;
      this.saving = plain.cpu > 0 ? 1 - cpu(held) / cpu(plain) : null;
      this.slowdown = this.slowdownOf(held);
      const [fall, chance] = this.fall(held);
      const lost = Math.max(0, fall - chance) / (rateOf(plain) || 1);
      const sure = held.windows >= 2 && plain.windows >= 2;
      const saving = (this.saving ?? Infinity) - lost;
      if (!this.verdict(now, { saving, slowdown: this.slowdown, sure })) return false;
      if (sure && !holds) this.distance = Math.min(128, this.distance * 2);
    }
    this.next();
    return true;
  }

  /** Fall of the rate with holding, and its standard deviation. */
  fall(held) {
    const { plain } = this;
    const chance = Math.sqrt(rateOf(plain) / plain.time + rateOf(held) / held.time);
    return [rateOf(plain) - rateOf(held), chance];
  }

  slowdownOf(held) {
    if (this.plain.windows === 0) return 0;
    const [fall, chance] = this.fall(held);
    return fall > 4 * chance ? fall / rateOf(this.plain) : 0;
  }

  /** False, and switched off, where holding does not pay. */
  verdict(now, { saving, slowdown, sure }) {
    if (slowdown > 0.05) return this.switchOff(now, 4);
    if (sure && saving < 0.02) return this.switchOff(now, 2);
    if (sure) this.comparison.backoff = 1000;
    return true;
  }

  switchOff(now, factor) {
    backOff(this.comparison, now, factor);
    this.restart();
    return false;
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

  /** Folds the rates at a dispatch point. */
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

  /**
   * A batch of n events leaves at a dispatch point; to be told when its handlers are done, and that they took d ms. `mute`: it says
   * nothing about the limit.
   */
  handing(n, mute) {
    const timed = this.isTiming() && !mute;
    const sampled = this.isEstimating();
    return (now, d) => {
      // A handler may have switched it off.
      if (timed && this.isTiming()) this.time(now, n, d);
      if (sampled) this.sample(now, n, d);
    };
  }

  isTiming() {
    return this.isAdaptive() && this.options.max_batch_time > 0;
  }

  /** Adjusts the limit by the time of a batch. */
  time(now, n, d) {
    const { max_batch: most, max_batch_time: ms } = this.options;
    if ((n < 8 && n !== this.most) || now < this.size.offUntil) return;
    if (this.most === null) {
      this.over = d > ms ? this.over + 1 : 0;
      if (this.over < 2) return;
      this.over = 0;
      this.met = 0;
      this.before = d / n;
      this.most = fitting(n, d, ms);
    } else if (n === this.most) {
      if (d / n > 1.1 * this.before) {
        this.most = null;
        backOff(this.size, now, 2);
        return;
      }
      this.met++;
      if (this.met === 4) this.size.backoff = 1000;
      if (d > ms) this.most = fitting(n, d, ms);
      else if (d < ms / 2) this.most = this.most * 2 >= most ? null : this.most * 2;
    }
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

  /** Events that a batch may take at a dispatch point. */
  limit(held) {
    const { max_batch: most } = this.options;
    return this.isTiming() && !held ? Math.min(most, this.most ?? most) : most;
  }

  estimates(now) {
    const { batch_cost, event_cost, hold_cost } = this.costs();
    return {
      ...{ utilization: this.utilization(now), total: this.rate(now, this.total) },
      ...{ batch_cost, event_cost, hold_cost, limit: (this.isTiming() && this.most) || 0 },
      ...{ saving: this.saving ?? 0, slowdown: this.slowdown ?? 0 },
    };
  }
}

// Kinds of windows: sums of what was measured in them.

const rateOf = (kind) => kind.pushed / kind.time;
const mapped = (kind, change) =>
  Object.fromEntries(
    Object.entries(kind).map(([key, sum]) => [key, key === 'windows' ? sum : change(sum, key)]),
  );
const halved = (kind) => mapped(kind, (sum) => sum / 2);
const sumOf = (kind, measured) => mapped(kind, (sum, key) => sum + measured[key]);

/** Events that fit into so many ms, when n of them took d. */
const fitting = (n, d, ms) => Math.max(1, Math.floor((n * ms) / d));

function backOff(one, now, factor) {
  one.offUntil = now + one.backoff;
  one.backoff = Math.min(60000, one.backoff * factor);
}
