/**
 * Drives the gate, which uses neither clock nor loop: passes it the loop's utilization when a decision is due, and has it checked
 * again when no other event would do so.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { Gate } from './gate.js';
import type { LoopTime } from './loop-time.js';

/** Time in ms after which a shut gate is checked again, with no request in progress that would open it. */
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

  /** Records the end of a request in progress. */
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
    // Waiting requests have connections, which keep the process alive.
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
