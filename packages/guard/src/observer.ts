/**
 * Estimates the requests that a guard would shed, for a program that watches an application and times only some of its requests; a
 * guard in shadow (shadow.ts) times each of them. Requests that one turn of the loop delivers had all
 * arrived when it began; run one after another, each waits for the requests before it. A virtual queue, which loses its work as
 * time passes, shows the requests that a guard would have refused.
 */
import { atTurnEnd } from '@millrace/base/turn';
import { type ClassIndex, exempt, low } from './classes.js';

export class Observer {
  /** Work in the virtual queue, in ms, by class. */
  readonly #workMs = [0, 0, 0, 0];
  #turnMs = 0;
  #isTurnKnown = false;

  readonly #turnOver = (): void => {
    this.#isTurnKnown = false;
  };

  /** Returns the wait that a guard would predict, in ms, for a request of this ticket's or route's class. */
  arrived(nowMs: number, { cls }: { readonly cls: ClassIndex }): number {
    if (!this.#isTurnKnown) {
      this.#isTurnKnown = true;
      this.#pass(nowMs - this.#turnMs);
      this.#turnMs = nowMs;
      // Requests come from the poll phase.
      atTurnEnd(this.#turnOver);
    }
    if (cls === exempt) return 0;
    let wait = 0;
    for (let each = 0; each <= cls; each++) wait += this.#workMs[each]!;
    return wait;
  }

  /** Adds the loop time of a request, whether or not a guard would admit it. */
  ran(cls: ClassIndex, ms: number): void {
    this.#workMs[cls]! += ms;
  }

  #pass(elapsedMs: number): void {
    let left = elapsedMs;
    for (let cls = 0; cls <= low; cls++) {
      const done = Math.min(left, this.#workMs[cls]!);
      this.#workMs[cls]! -= done;
      left -= done;
    }
    this.#workMs[exempt] = 0;
  }
}
