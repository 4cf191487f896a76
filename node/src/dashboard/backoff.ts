const firstMs = 250;
const longestMs = 10_000;

/** How long to wait before the next attempt to connect: twice as long each time, from 250 ms to 10 s. */
export class Backoff {
  #nextMs = firstMs;

  /**
   * A connection that lasted begins anew. One that was closed at once does not: a dashboard that takes no more closes what it has
   * just accepted, and that is no reason to hurry.
   * @param lastedMs of the connection that ended, 0 when there was none
   */
  next(lastedMs: number): number {
    if (lastedMs > longestMs) this.#nextMs = firstMs;
    const ms = this.#nextMs;
    this.#nextMs = Math.min(ms * 2, longestMs);
    return ms;
  }
}
