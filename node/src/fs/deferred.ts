/** A promise with its two ends, in one object and without a closure of ours. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  protected readonly resolve: (value: T | PromiseLike<T>) => void;
  protected readonly reject: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>(keepEnds);
    this.resolve = lastResolve as typeof this.resolve;
    this.reject = lastReject;
  }
}

let lastResolve: (value: never) => void;
let lastReject: (error: unknown) => void;

function keepEnds(resolve: (value: never) => void, reject: (error: unknown) => void): void {
  lastResolve = resolve;
  lastReject = reject;
}
