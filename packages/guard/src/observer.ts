/**
 * Says roughly what a guard would have shed, to a program that watches an application and times some of its requests only; a guard in
 * shadow (shadow.ts) knows each of them. Requests that one turn of the loop hands over were all
 * there when it began; run one after another, each waits for those before it. A queue that is only reckoned with, which loses its work as
 * time goes by, tells which of them a guard had not let in.
 */
import { atTurnEnd } from '@millrace/base/turn';
import { type ClassIndex, exempt, low } from './classes.js';

export class Observer {
  /** Work in ms that waits in the reckoning, by class. */
  readonly #workMs = [0, 0, 0, 0];
  #turnMs = 0;
  #isTurnKnown = false;

  readonly #turnOver = (): void => {
    this.#isTurnKnown = false;
  };

  /** The wait that this request would have been predicted, in ms; a ticket or a route says its class. */
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

  /** A request held the loop for so long, whether or not a guard had let it in. */
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
