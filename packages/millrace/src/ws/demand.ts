/**
 * Whether gathering pays for a class of WebSockets. While it does not, all frames are written by ws alone, but one of sixteen or fifteen is a
 * sample. It asks whether the rest of its turn brings another frame for the same socket, or the same content for the next one: either
 * would have been cheaper with the gatherer, which begins then. It ends after sixteen turns with frames in which it has saved neither an
 * encoding nor a write.
 *
 * So a server whose turns bring single frames pays for a comparison per frame, and for the end of one turn in sixteen; a broadcast is
 * found within its first sixteen sockets, or in the next one. The sample is kept for one turn.
 */

import { isSame } from './turn-frames.js';

/** Frames from one sample to the next, in turns: with one number alone, bursts of it would always be sampled at their last frame. */
const periods = [15, 16] as const;
/** Turns without a saving after which gathering ends. */
const patience = 16;

export class Demand {
  /** Frames pass through the gatherer. */
  isThere = false;
  /** Asks for {@link turnEnds} at the end of this turn. */
  readonly #join: () => void;
  /** Frames until the next sample. */
  #left = 1;
  #samples = 0;
  #isSampling = false;
  #sender: object | null = null;
  #content: unknown = null;
  #saved = 0;
  #idleTurns = 0;

  constructor(join: () => void) {
    this.#join = join;
  }

  /** Looks at a frame, before it is sent, while nothing is gathered. True: gathering begins with it. */
  beginsWith(sender: object, content: unknown): boolean {
    if (this.#isSampling) {
      if (sender !== this.#sender && !isSame(content, this.#content)) return false;
      this.isThere = true;
      this.#idleTurns = 0;
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
    this.#left = periods[this.#samples++ % 2]!;
    if (!this.isThere) return;
    this.#idleTurns = saved === this.#saved ? this.#idleTurns + 1 : 0;
    this.#saved = saved;
    if (this.#idleTurns >= patience) this.isThere = false;
  }
}
