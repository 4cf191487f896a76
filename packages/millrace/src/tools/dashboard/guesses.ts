/** Wrong tokens, by the address that they came from: only a limited number a minute. */
import { performance } from '@millrace/base/timers';

const windowMs = 60_000;
const mostWrong = 20;
/** No more addresses than this are remembered; those that began longest ago are forgotten. */
const mostAddresses = 1024;

interface Window {
  begunMs: number;
  wrong: number;
}

export class Guesses {
  /** In the order in which they began. */
  readonly #windows = new Map<string, Window>();

  /** Seconds for which nobody at this address may try; 0: they may. */
  waitSeconds(address = '', nowMs = performance.now()): number {
    const window = this.#current(address, nowMs);
    if (window === undefined || window.wrong < mostWrong) return 0;
    return Math.ceil((window.begunMs + windowMs - nowMs) / 1000);
  }

  /** A token from this address was wrong. */
  wrong(address = '', nowMs = performance.now()): void {
    const window = this.#current(address, nowMs);
    if (window !== undefined) {
      window.wrong++;
      return;
    }
    this.#windows.set(address, { begunMs: nowMs, wrong: 1 });
    if (this.#windows.size > mostAddresses) {
      this.#windows.delete(this.#windows.keys().next().value!);
    }
  }

  #current(address: string, nowMs: number): Window | undefined {
    const window = this.#windows.get(address);
    if (window === undefined || nowMs - window.begunMs < windowMs) return window;
    this.#windows.delete(address);
    return undefined;
  }
}
