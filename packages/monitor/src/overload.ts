/** When a loop is over its limit, and when it no longer is: above `limit`, and then until it has been calm. */
export interface OverloadOptions {
  readonly limit: number;
  readonly lower: number;
  readonly calm: number;
  readonly sampleInterval: number;
}

export type Change = 'load' | 'unload' | null;

/** Pure: the caller gives the time in ms, which must not go back. */
export class Overload {
  overLimit = false;
  #calm = 0;
  /** The worst of this sample, which began at `#since`. */
  #worst = 0;
  #since = 0;

  /** Told of a turn that is not over yet, which can only be too long. */
  peek(delay: number, at: number, { limit }: OverloadOptions): Change {
    if (delay <= limit) return null;
    this.#restart(at);
    if (this.overLimit) return null;
    this.overLimit = true;
    return 'load';
  }

  turn(delay: number, at: number, options: OverloadOptions): Change {
    if (delay > options.limit) return this.peek(delay, at, options);
    if (!this.overLimit) return null;
    if (delay > this.#worst) this.#worst = delay;
    // Timers count whole ms, and may come up to one of them early.
    if (at - this.#since < options.sampleInterval / 2) return null;
    const calm = this.#worst <= options.lower ? this.#calm + 1 : 0;
    this.#restart(at);
    this.#calm = calm;
    if (calm < options.calm) return null;
    this.overLimit = false;
    return 'unload';
  }

  #restart(at: number): void {
    this.#since = at;
    this.#worst = 0;
    this.#calm = 0;
  }
}
