import type { DurationsSummary } from './durations.js';
import type { Scheduler } from './scheduler.js';

/** Times of the tasks, as piscina reports them. */
export interface PoolHistogram {
  /** Times that tasks ran in ms; undefined with `recordTiming: false`. */
  readonly runTime: DurationsSummary | undefined;
  /** Times that tasks waited, from the call to when they began, in ms. */
  readonly waitTime: DurationsSummary | undefined;
  resetRunTime(): void;
  resetWaitTime(): void;
}

export function histogramOf({ runTimes, waitTimes }: Scheduler): PoolHistogram {
  return {
    get runTime() {
      return runTimes?.summary();
    },
    get waitTime() {
      return waitTimes?.summary();
    },
    resetRunTime: () => runTimes?.reset(),
    resetWaitTime: () => waitTimes?.reset(),
  };
}
