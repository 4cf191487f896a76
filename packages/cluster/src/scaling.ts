/**
 * Number of processes for a load: more when they are busy, one fewer when the others could take over its work with room to
 * spare. The second threshold is for the load that the others would have then, so that a steady load never makes the number
 * go up and down.
 */
import { clearInterval, performance, setInterval } from '@millrace/base/timers';
import type { Settings } from './options.js';
import type { ClusterProcess } from './process.js';

type ScaleOptions = Pick<Settings, 'min' | 'max' | 'scaleUp' | 'scaleDown'>;

interface ScaleState {
  /** Samples in a row above and below. */
  readonly above: number;
  readonly below: number;
}

export const calm: ScaleState = { above: 0, below: 0 };

/** A burst counts after one sample; a lull has to last, since a process that is gone has to be started again. */
const samplesUp = 2;
const samplesDown = 10;

/** The count that there should be, for a sample of each process's utilization. */
export function nextCount(
  utilizations: readonly number[],
  { min, max, scaleUp, scaleDown }: ScaleOptions,
  state: ScaleState,
): { readonly count: number; readonly state: ScaleState } {
  const count = utilizations.length;
  if (count === 0) return { count: min, state: calm };
  const sum = utilizations.reduce((total, each) => total + each, 0);
  const above = count < max && sum / count > scaleUp ? state.above + 1 : 0;
  const below = count > min && sum / (count - 1) < scaleDown ? state.below + 1 : 0;
  if (above >= samplesUp) {
    // A process at its limit shows no more than 1: what waits behind that is only seen when there is another one.
    const wanted = Math.ceil(sum / ((scaleUp + scaleDown) / 2));
    return { count: Math.min(max, Math.max(count + 1, wanted)), state: calm };
  }
  if (below >= samplesDown) return { count: count - 1, state: calm };
  return { count, state: { above, below } };
}

/**
 * Samples the load every `scaleInterval` ms. `inCharge` returns the processes in charge, null while one is missing, starting or being
 * replaced. Returns a function that ends this.
 */
export function startScaling(
  options: ScaleOptions & Pick<Settings, 'scaleInterval'>,
  inCharge: () => readonly ClusterProcess[] | null,
  resize: (count: number, utilization: number) => void,
): () => void {
  const { scaleInterval } = options;
  let state = calm;
  const sample = () => {
    const steady = inCharge();
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
    resize(next.count, utilizations.reduce((sum, each) => sum + each, 0) / steady.length);
  };
  const timer = setInterval(sample, scaleInterval).unref();
  return () => clearInterval(timer);
}
