import { clearTimeout, setTimeout } from '@millrace/base/timers';

/** The value of the promise, which must not reject; null if it takes longer than `ms`. */
export function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    void promise.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
