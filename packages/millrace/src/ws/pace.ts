/**
 * Bounds what is on its way to one socket, so that its reader gets the newest message of each key: they supersede each other in its
 * backlog, and no longer in the buffers of kernels and networks, which hold some seconds or minutes of what a slow reader reads.
 *
 * Pings measure it. A ping follows the messages, and its answer says that all before it have been read. The first one comes before
 * any message: its time is that of the way there and back. What an answer takes beyond that is the time that messages wait on their
 * way. Where it is above `maxLag`, the window is cut in the ratio of the two times; where it is below and the window was in use, the
 * window grows, to the double where nothing waited. So a reader that keeps up soon has a window that is never full.
 *
 * A pace owns no timer, clock or socket. `askedAt` is the time of the ping that is out, and no second one is sent meanwhile.
 */

/** Bounds of the window in bytes, and its first size. */
const [leastBytes, firstBytes, mostBytes] = [256, 2 * 1024, 4 * 1024 * 1024];
/** Share of the window after which a ping follows. */
const share = 4;

export class Pace {
  readonly #maxLag: number;
  #window = firstBytes;
  /** Bytes that are not known to be read, and those of them that follow the last ping. */
  #unread = 0;
  #afterPing = 0;
  /** Bytes that were unread when the last ping was sent. */
  #beforePing = 0;
  #isAsked = true;
  #askedAt: number;
  /** The way there and back, in ms. Infinite until the first answer. */
  #roundTrip = Number.POSITIVE_INFINITY;

  /** `maxLag` and `now` in ms. The first ping is to be sent by the caller, before any message. */
  constructor(maxLag: number, now: number) {
    this.#maxLag = maxLag;
    this.#askedAt = now;
  }

  /** Bytes that may be written now. */
  room(now: number): number {
    const isLate = this.#isAsked && now - this.#askedAt > this.#roundTrip + this.#maxLag;
    return isLate ? 0 : Math.max(0, this.#window - this.#unread);
  }

  /** Messages have been written. True: a ping is to follow them. */
  wrote(bytes: number, now: number): boolean {
    this.#unread += bytes;
    this.#afterPing += bytes;
    const isDue = this.#afterPing >= this.#window / share || now - this.#askedAt >= this.#maxLag;
    return isDue && this.#ask(now);
  }

  /** The ping that is out has been answered. True: another one is to follow. */
  answered(now: number): boolean {
    const time = now - this.#askedAt;
    this.#isAsked = false;
    // With so little on its way the time is that of the way, which may have become longer.
    if (this.#window === leastBytes || time < this.#roundTrip) this.#roundTrip = time;
    this.#adapt(time);
    this.#unread = this.#afterPing;
    // Nothing may be written that a ping could follow.
    return this.#unread >= this.#window && this.#ask(now);
  }

  #ask(now: number): boolean {
    if (this.#isAsked) return false;
    this.#isAsked = true;
    this.#askedAt = now;
    this.#beforePing = this.#unread;
    this.#afterPing = 0;
    return true;
  }

  /** `time`: that of an answer, in ms. */
  #adapt(time: number): void {
    const used = this.#beforePing;
    const most = this.#roundTrip + this.#maxLag;
    const lag = time - this.#roundTrip;
    if (lag > this.#maxLag) {
      this.#window = Math.max(leastBytes, Math.floor((used * most) / time));
    } else if (used >= this.#window / share) {
      const more = Math.ceil(this.#window * (1 - lag / this.#maxLag));
      this.#window = Math.min(mostBytes, this.#window + more);
    }
  }
}
