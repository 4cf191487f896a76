/**
 * Amdahl's law: how many times faster work becomes on several processors, 1 / ((1 − p) + p / n). All of the denominator is in
 * brackets: without them, as the formula is sometimes printed, more processors would make the work slower.
 *
 * @param {number} parallel share of the work that can be divided, 0 to 1
 * @param {number} processors 1 or more
 */
export function amdahl(parallel, processors) {
  if (!(parallel >= 0 && parallel <= 1)) {
    throw new RangeError(`the parallel share is ${parallel}; it is from 0 to 1`);
  }
  if (!(processors >= 1)) throw new RangeError(`${processors} processors; there is at least 1`);
  return 1 / (1 - parallel + parallel / processors);
}

/**
 * Gain of dividing, beside what Amdahl's law promises for the same shares.
 *
 * @param {object} times
 * @param {number} times.parallelMs what the parts took of a core, together
 * @param {number} times.serialMs what could not be divided took of one
 * @param {number} times.ms that passed from the first to the last
 * @param {number} processors that the parts could run on
 */
export function speedUp({ parallelMs, serialMs, ms }, processors) {
  const work = parallelMs + serialMs;
  const parallel = work > 0 ? parallelMs / work : 0;
  return {
    parallel: round(parallel, 4),
    processors,
    amdahl: round(amdahl(parallel, processors), 2),
    measured: ms > 0 ? round(work / ms, 2) : 1,
  };
}

const round = (value, digits) => Number(value.toFixed(digits));
