/**
 * Keeps the gate, which knows neither clock nor loop: tells it how busy the loop was when it is due to decide, and has it looked at
 * again when nothing else would.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { Gate } from './gate.js';
import type { LoopTime } from './loop-time.js';

/** With the gate shut and nothing under way that would open it, it is looked at again after so long, in ms. */
const gateRetryMs = 10;

export class GateKeeper {
  readonly #gate: Gate;
  readonly #time: LoopTime;
  readonly #lookAgain: () => void;
  #timer: NodeJS.Timeout | null = null;

  /** `lookAgain` is called some time after `arm`. */
  constructor(gate: Gate, time: LoopTime, lookAgain: () => void) {
    this.#gate = gate;
    this.#time = time;
    this.#lookAgain = lookAgain;
  }

  /** Reports whether another request may start, after a decision if one is due. */
  isOpen(now: number): boolean {
    if (this.#gate.isOpen()) return true;
    if (!this.#gate.isDue(now)) return false;
    this.#decide(now);
    return this.#gate.isOpen();
  }

  /** Something under way is over. */
  decideIfDue(now: number): void {
    if (this.#gate.isDue(now)) this.#decide(now);
  }

  /** Arms a timer: requests in progress may never end, and a loop with time to spare opens the gate. */
  arm(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#lookAgain();
    }, gateRetryMs);
    // Those who wait have connections, which keep the process alive.
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #decide(now: number): void {
    this.#time.utilization(now, (share) => this.#gate.decide(now, share, this.#time.asyncMs));
  }
}
