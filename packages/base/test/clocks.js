/** The clocks that every feature reads, for tests that move them: those of Node.js are no longer asked once they are loaded. */
import timers from '../dist/timers.cjs';

export const { performance, wallClock } = timers;

/** Stops the monotonic clock of Millrace until a test is over; `pass(ms)` moves it on. */
export function stillClock(t) {
  // A whole number, so that what is passed is what has passed.
  let nowMs = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => nowMs);
  return {
    pass: (ms) => {
      nowMs += ms;
    },
  };
}
