/** The clocks that every feature reads, for tests that move them: those of Node.js are no longer asked once they are loaded. */
import timers from '../../dist/core/timers.cjs';

export const { performance, wallClock } = timers;
