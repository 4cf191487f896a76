/** Whether what a turn has gathered is held for the next: the rule of all queues, with a socket as the destination. */
import { adaptive, foldRate, Gain, initialState, type PolicyState } from '../core/batch/policy.js';
import { TurnHost } from '../core/dispatch/clock.js';
import { complete, givenOptions, type QueueOptions } from '../core/options.js';
import type { Outbox } from './outbox.js';

export class Hold {
  readonly #options: QueueOptions;
  readonly #host = new TurnHost();
  readonly #gain = new Gain();
  #state: PolicyState = initialState;
  /** Frames that were waiting when the hold began; 0 when there is none. */
  #heldFrom = 0;

  /** `maxDelay` in ms. */
  constructor(maxDelay: number) {
    this.#options = complete(givenOptions({ maxDelay }));
  }

  /** How long the frames that wait may be held from the first one on, in ms. */
  ask(outboxes: readonly Outbox[], now: number): number {
    let rate = 0;
    let frames = 0;
    for (const outbox of outboxes) {
      const waiting = outbox.sequence.frames;
      foldRate(outbox.rate, waiting - outbox.counted, now);
      outbox.counted = waiting;
      rate = Math.max(rate, outbox.rate.value);
      frames += waiting;
    }
    const { value: gain, holds } = this.#gain;
    const signals = { utilization: this.#host.utilization(now), rate, gain, holds };
    const { hold, state } = adaptive(signals, this.#options, this.#state, now);
    if (state.offUntil !== this.#state.offUntil) this.#gain.clear();
    this.#state = state;
    if (hold > 0 && this.#heldFrom === 0) this.#heldFrom = frames;
    return hold;
  }

  /** What was held leaves: notes how many more frames a write got by it. */
  ended(outboxes: readonly Outbox[]): void {
    if (this.#heldFrom === 0) return;
    let frames = 0;
    for (const outbox of outboxes) frames += outbox.sequence.frames;
    this.#gain.record((frames - this.#heldFrom) / outboxes.length);
    this.#heldFrom = 0;
  }
}
