/**
 * How many processes a load needs. Pure. More when they are busy, one fewer when the others could take over its work with room to
 * spare. The second threshold is about the load that the others would have then, so that a steady load never makes it go up and down.
 */

export interface ScaleOptions {
  readonly min: number;
  readonly max: number;
  /** Mean utilization above which there are too few, 0 to 1. */
  readonly scaleUp: number;
  /** Mean utilization that would be left with one process fewer, below which there is one too many. */
  readonly scaleDown: number;
}

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
