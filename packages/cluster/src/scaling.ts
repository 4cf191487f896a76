/** Looks at the load of the processes from time to time, and has as many as it needs. */
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import type { ClusterProcess } from './process.js';
import { calm, nextCount, type ScaleOptions } from './scale.js';

interface Scaled {
  /** The processes in charge; null while one is missing, starting or being replaced. */
  readonly steady: readonly ClusterProcess[] | null;
  resize(count: number, utilization: number): void;
}

/** Returns a function that ends this. */
export function startScaling(
  options: ScaleOptions & { scaleInterval: number },
  scaled: Scaled,
): () => void {
  const { scaleInterval } = options;
  let state = calm;
  const sample = () => {
    const { steady } = scaled;
    if (steady === null) {
      state = calm;
      return;
    }
    const oldest = performance.now() - 2 * scaleInterval;
    const utilizations = steady.map(({ utilization, readyMs }) => {
      if (utilization !== null && utilization.at > oldest) return utilization.value;
      // A process that does not get round to reporting is as busy as can be.
      return readyMs > 2 * scaleInterval ? 1 : 0;
    });
    const next = nextCount(utilizations, options, state);
    state = next.state;
    if (next.count === steady.length) return;
    scaled.resize(next.count, utilizations.reduce((sum, each) => sum + each, 0) / steady.length);
  };
  const timer = setInterval(sample, scaleInterval).unref();
  return () => clearInterval(timer);
}
