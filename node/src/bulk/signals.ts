/**
 * Listens to abort signals, once to each however many calls share it: a signal that lives as long as a request or a
 * process would otherwise collect a listener for each call, and Node.js would warn of a leak.
 */
export class Signals {
  readonly #watched = new WeakMap<AbortSignal, Set<() => void>>();

  /** Calls `onAbort` when the signal aborts, unless it is forgotten before. */
  watch(signal: AbortSignal, onAbort: () => void): void {
    const known = this.#watched.get(signal);
    if (known !== undefined) {
      known.add(onAbort);
      return;
    }
    const callbacks = new Set([onAbort]);
    this.#watched.set(signal, callbacks);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  forget(signal: AbortSignal, onAbort: () => void): void {
    const callbacks = this.#watched.get(signal);
    if (callbacks === undefined) return;
    callbacks.delete(onAbort);
    if (callbacks.size > 0) return;
    this.#watched.delete(signal);
    signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (event: Event): void => {
    const signal = event.target as AbortSignal;
    const callbacks = this.#watched.get(signal);
    this.#watched.delete(signal);
    for (const onAbort of callbacks ?? []) onAbort();
  };
}
