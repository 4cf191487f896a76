/**
 * The ranks of values, each doubled so that those of ties, which share the mean of theirs, are whole numbers too.
 *
 * @param {Float64Array} values
 * @returns {{ ranks: Int32Array, ties: number[] }} from 2 to twice the number of values, in the order of the values;
 *   of each set of equal values how many they are
 */
export function doubledRanks(values) {
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  const ranks = new Int32Array(values.length);
  const ties = [];
  for (let from = 0, to = 0; from < order.length; from = to) {
    while (to < order.length && values[order[to]] === values[order[from]]) to += 1;
    for (let at = from; at < to; at += 1) ranks[order[at]] = from + 1 + to;
    if (to - from > 1) ties.push(to - from);
  }
  return { ranks, ties };
}

/** Amount by which ties lessen the variance of a sum of ranks: the sum of t³ - t over the sets of t equal values. */
export const tieCorrection = (ties) => ties.reduce((sum, t) => sum + t ** 3 - t, 0);
