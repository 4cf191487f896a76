// The reference model's policies and estimates; see model.js.

const SLICE = 25;
const LN2 = Math.log(2);

/** What a policy knows of the load, and the hold that it answers with. Times are in ms. */
export class Policy {
  /** @param options the options of the queue, live */
  constructor(options) {
    this.options = options;
    this.signals = {};
    this.busyTimes = [];
    this.gains = [];
    this.offUntil = 0;
    this.backoff = 1000;
  }

  maxDelay() {
    return this.options.max_delay ?? (this.options.policy === 'fixed' ? 50 : 0);
  }

  /** The hold for a batch of events of these types. */
  hold(now, types) {
    if (this.options.policy === 'direct') return 0;
    if (this.options.policy === 'fixed') return this.maxDelay();
    const tuned = this.options.hold === 'tuned';
    if (tuned && now >= this.offUntil) this.tune(now);
    const rate = Math.max(...types.map((type) => type.signal ?? this.rate(now, type)));
    const utilization = this.signals.utilization ?? this.utilization(now);
    if (this.maxDelay() === 0 || (tuned && now < this.offUntil)) return 0;
    if (utilization < 0.6 || rate * this.maxDelay() < 0.5) return 0;
    return this.maxDelay() * Math.min(1, (utilization - 0.6) / 0.3);
  }

  tune(now) {
    if ((this.signals.holds ?? this.gains.length) < 16) return;
    if ((this.signals.gain ?? this.gain()) < 0.5) {
      this.offUntil = now + this.backoff;
      this.backoff = Math.min(60000, this.backoff * 2);
      this.gains = [];
    } else {
      this.backoff = 1000;
    }
  }

  utilization(now) {
    const start = Math.max(0, (Math.floor(now / SLICE) - 9) * SLICE);
    const busy = this.busyTimes.map(([from, to]) => Math.max(0, to - Math.max(from, start)));
    return now === start ? 0 : busy.reduce((a, b) => a + b, 0) / (now - start);
  }

  /** The engine's own rate of a type, decayed to now. */
  rate(now, type) {
    return type.rate * 2 ** (-(now - type.folded) / 100);
  }

  /** What a dispatch point does to the rate of a type. */
  fold(now, type) {
    type.rate = this.rate(now, type) + (type.fresh * LN2) / 100;
    type.folded = now;
    type.fresh = 0;
  }

  gain() {
    return this.gains.reduce((a, b) => a + b, 0) / Math.max(1, this.gains.length);
  }

  /** Puts a hold on record, where estimates are kept. */
  gained(events) {
    if (this.options.policy !== 'adaptive' || this.maxDelay() === 0) return;
    this.gains = [...this.gains, events].slice(-16);
  }
}
