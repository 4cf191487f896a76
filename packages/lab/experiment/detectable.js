/**
 * What a number of rounds can show: the effect that the signed-rank test finds, with its right sign and p <= 0.05, in 4
 * of 5 experiments. In standard deviations of the differences within a round, whose noise is taken to be normal.
 */

/** Fewer rounds have no p of 0.05. */
export const LEAST_ROUNDS = 6;

/**
 * By 40,000 simulated experiments of 6 to 12 rounds each. So few have few possible values of p, and no formula; the
 * test of power in packages/lab/stats is of two arms without rounds, and says too little for 6.
 */
const FEW = [1.787, 1.326, 1.246, 1.148, 1.021, 0.99, 0.936];

/** (z(0.975) + z(0.8)) · √(π / 3), which is the efficiency of the test; the rest is fitted to simulations up to 50. */
const formula = (n) => (2.867 * (1 + 1.05 / n)) / Math.sqrt(n);

/**
 * @param {number} rounds
 * @returns {number | null} null when there are too few to show anything
 */
export function detectable(rounds) {
  if (rounds < LEAST_ROUNDS) return null;
  return FEW[rounds - LEAST_ROUNDS] ?? formula(rounds);
}

/**
 * How many rounds show an effect.
 *
 * @param {number} effect in standard deviations, above 0
 * @returns {number} 6 or more
 */
export function roundsFor(effect) {
  const few = FEW.findIndex((least) => least <= effect);
  if (few !== -1) return few + LEAST_ROUNDS;
  const n = (2.867 / effect) ** 2;
  // 1 + 1.05 / n squared is nearly 1 + 2.1 / n.
  return Math.max(LEAST_ROUNDS + FEW.length, Math.ceil(n + 2.1));
}
