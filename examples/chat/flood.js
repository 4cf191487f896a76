/**
 * A token bucket: `perSecond` on average, twice as many at once. 0 means no limit.
 * One object per client, no timer: tokens are counted up when they are asked for.
 */
export class Bucket {
  #perSecond;
  #tokens;
  #at;
  /** Refusals since the last second without one. */
  strikes = 0;

  constructor(perSecond, nowMs = performance.now()) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond * 2;
    this.#at = nowMs;
  }

  /** Takes one token. @returns {number} 0 when allowed, else the ms until the next token */
  take(nowMs = performance.now()) {
    const rate = this.#perSecond;
    if (rate === 0) return 0;
    this.#tokens = Math.min(rate * 2, this.#tokens + ((nowMs - this.#at) / 1000) * rate);
    this.#at = nowMs;
    if (this.#tokens >= 1) {
      // A second's worth of tokens has gathered: the client has calmed down.
      if (this.#tokens >= rate) this.strikes = 0;
      this.#tokens -= 1;
      return 0;
    }
    this.strikes += 1;
    return Math.ceil(((1 - this.#tokens) / rate) * 1000);
  }

  /** Reports whether it has been idle for so long that a new bucket would be no different. */
  isFull(nowMs = performance.now()) {
    return this.#tokens + ((nowMs - this.#at) / 1000) * this.#perSecond >= this.#perSecond * 2;
  }
}

/** Buckets by key (an address), of which those are forgotten that have filled up again. */
export class Buckets {
  #perSecond;
  #map = new Map();

  constructor(perSecond) {
    this.#perSecond = perSecond;
  }

  take(key) {
    if (this.#perSecond === 0) return 0;
    let bucket = this.#map.get(key);
    if (bucket === undefined) {
      if (this.#map.size >= 1000) this.#prune();
      bucket = new Bucket(this.#perSecond);
      this.#map.set(key, bucket);
    }
    return bucket.take();
  }

  #prune() {
    const now = performance.now();
    for (const [key, bucket] of this.#map) if (bucket.isFull(now)) this.#map.delete(key);
  }
}
