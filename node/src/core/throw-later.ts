import { nextTick } from './timers.cjs';

/** Throws an error of the application where nothing else is in the middle of its work: an uncaught exception, as it would have been anyway. */
export function throwLater(error: unknown): void {
  nextTick(() => {
    throw error;
  });
}
