/**
 * Length of a loop turn: a turn takes what has come during the one before it, so it lasts as long as its own share and the work that
 * came meanwhile, T = turn + busy(T) × T. What comes in a longer turn is cheaper, as more of it leaves together.
 */

/** Longest turn, s; a loop that would need more is overloaded. */
const LONGEST = 1;
const STEPS = 60;

/**
 * @param {(window: number) => number} busyOf the share of a loop's time that work takes when what comes within so many seconds leaves
 *   together
 * @param {{ turnUs: number, hold: number }} loop what a turn takes without work, µs, and how long messages wait for others, ms
 * @returns {{ turn: number, window: number, busy: number }} s, s and a share; a turn of Infinity when the work is too much
 */
export function turnOf(busyOf, { turnUs, hold }) {
  const least = turnUs / 1e6;
  const windowOf = (turn) => Math.max(turn, hold / 1000);
  const isLongEnough = (turn) => turn * (1 - busyOf(windowOf(turn))) >= least;
  if (!isLongEnough(LONGEST)) {
    return { turn: Number.POSITIVE_INFINITY, window: LONGEST, busy: busyOf(windowOf(LONGEST)) };
  }
  let [lo, hi] = [least, LONGEST];
  for (let i = 0; i < STEPS && hi - lo > least * 1e-9; i += 1) {
    const middle = (lo + hi) / 2;
    if (isLongEnough(middle)) hi = middle;
    else lo = middle;
  }
  const window = windowOf(hi);
  return { turn: hi, window, busy: busyOf(window) };
}
