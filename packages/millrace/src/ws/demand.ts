/**
 * Decides whether gathering pays for a class of WebSockets. While it does not, all frames are written by ws alone, but some
 * are samples. A sample asks whether the rest of its turn brings another frame for the same socket, or the same content for
 * the next one: either would have been cheaper with the gatherer, which begins then. It ends after sixteen turns with frames
 * in which it has saved neither an encoding nor a write.
 *
 * The first sample is the first frame, the next one comes sixteen frames later, and each sample in vain doubles the distance, up to 1,024.
 * So a server whose turns bring single frames pays for a comparison per frame and for the end of one turn in a thousand; a broadcast to
 * a hundred sockets is found within ten rounds, on a new server at once. The sample is kept for one turn.
 */

import { isSame } from './turn-frames.js';

/** Frames from one sample to the next. */
const shortest = 16;
const longest = 1024;
/** Turns without a saving after which gathering ends. */
const patience = 16;

export class Demand {
  /** Frames pass through the gatherer. */
  isThere = false;
  /** Asks for {@link turnEnds} at the end of this turn. */
  readonly #join: () => void;
  /** Frames until the next sample. */
  #left = 1;
  #period = shortest;
  #samples = 0;
  #isSampling = false;
  #sender: object | null = null;
  #content: object | string | null = null;
  #saved = 0;
  #idleTurns = 0;

  constructor(join: () => void) {
    this.#join = join;
  }

  /**
   * Looks at a frame, before it is sent, while nothing is gathered. True: gathering begins with it. Null for a content that nobody has
   * to encode.
   */
  beginsWith(sender: object, content: object | string | null): boolean {
    if (this.#isSampling) {
      const isMore =
        sender === this.#sender || (content !== null && isSame(content, this.#content));
      if (!isMore) return false;
      this.isThere = true;
      this.#idleTurns = 0;
      this.#period = shortest;
      this.#join();
      return true;
    }
    if (--this.#left > 0) return false;
    this.#isSampling = true;
    this.#sender = sender;
    this.#content = content;
    this.#join();
    return false;
  }

  /** `saved`: encodings and writes that the gatherer has saved so far. */
  turnEnds(saved: number): void {
    this.#isSampling = false;
    this.#sender = null;
    this.#content = null;
    if (!this.isThere) {
      // With even numbers alone, bursts of two would always be sampled at their last frame.
      this.#left = this.#period - (this.#samples++ % 2);
      this.#period = Math.min(2 * this.#period, longest);
      return;
    }
    this.#idleTurns = saved === this.#saved ? this.#idleTurns + 1 : 0;
    this.#saved = saved;
    if (this.#idleTurns >= patience) this.isThere = false;
    this.#left = 1;
  }
}
