/** A task that somebody waits for. */
import { AbortError, type AbortSource, onAbort, reasonOf } from '../failure.js';
import type { Call } from './call.js';

export class Pending {
  readonly promise: Promise<unknown>;
  call: Call | null = null;
  /** Nobody waits for it any more. */
  onAbandoned: () => void = () => {};
  readonly #onEnd: (pending: Pending, isFailed: boolean) => void;
  #resolve!: (result: unknown) => void;
  #reject!: (error: unknown) => void;
  #waiting = 0;
  #isEnded = false;

  /** `onEnd` is called once, before its promise settles. */
  constructor(onEnd: (pending: Pending, isFailed: boolean) => void) {
    this.#onEnd = onEnd;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The result for one more caller; a signal ends the wait of its own call, and with the last one that of the task. */
  wait(signal: AbortSource | null): Promise<unknown> {
    this.#waiting++;
    if (signal === null) return this.promise;
    return new Promise((resolve, reject) => {
      const unlisten = onAbort(signal, () => {
        const error = new AbortError(reasonOf(signal));
        reject(error);
        if (--this.#waiting > 0 || this.#isEnded) return;
        this.onAbandoned();
        this.reject(error);
      });
      this.promise.finally(unlisten).then(resolve, reject);
    });
  }

  resolve(result: unknown): void {
    if (this.#end(false)) this.#resolve(result);
  }

  reject(error: unknown): void {
    if (this.#end(true)) this.#reject(error);
  }

  #end(isFailed: boolean): boolean {
    if (this.#isEnded) return false;
    this.#isEnded = true;
    this.#onEnd(this, isFailed);
    return true;
  }
}
