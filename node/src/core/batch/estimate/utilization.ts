/**
 * The busy share of the loop over about 250 ms: ten slices of 25 ms, the current one included. Pure: the caller says
 * which spans of time were how busy. Slices instead of a list of spans, so that memory and cost do not grow with turns.
 */
const sliceMs = 25;
const slices = 10;

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
