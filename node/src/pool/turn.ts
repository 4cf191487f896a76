/**
 * For how long results may lead to further tasks. A port hands over what has arrived meanwhile within one turn of the loop; with
 * answers that bring questions, and workers that are quick, that would have no end: after a while the questions wait for the
 * next turn.
 */
import { performance } from '../core/timers.cjs';
import { atTurnEnd } from '../core/turn.cjs';

/** How long workers get further tasks within one turn of the loop, in ms. */
const turnMs = 5;

export class Turn {
  readonly #next: () => void;
  /** When the first results of this turn came; 0 if none have. When the last results came. */
  #startMs = 0;
  #lastMs = 0;

  /** `next` is called in the turn after one in which results came. */
  constructor(next: () => void) {
    this.#next = next;
  }

  resultsCame(): void {
    const nowMs = performance.now();
    this.#lastMs = nowMs;
    if (this.#startMs !== 0) return;
    this.#startMs = nowMs;
    atTurnEnd(() => {
      this.#startMs = 0;
      this.#next();
    });
  }

  /** What counts is the time in which results came: a program that computes after the first of them gets its next call begun. */
  get isOver(): boolean {
    return this.#startMs !== 0 && this.#lastMs - this.#startMs > turnMs;
  }
}
