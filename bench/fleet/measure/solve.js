/**
 * Cost of each kind of work, from the costs of mixtures of them: the least squares of the relative errors, and
 * nothing below 0.
 *
 * @param {number[][]} amounts of each kind, in each mixture
 * @param {number[]} costs of the mixtures
 * @returns {number[]} the cost of one of each kind
 */
export function solve(amounts, costs) {
  const rows = amounts.map((row, i) => row.map((amount) => amount / costs[i]));
  const kinds = rows[0].map((_, kind) => kind);
  const dot = (a, b) => rows.reduce((sum, row) => sum + row[a] * row[b], 0);
  const found = kinds.map(() => 0);
  // One after another, each the best for what the others are: few kinds, so that it need not be quick.
  for (let round = 0; round < 200_000; round += 1) {
    for (const kind of kinds) {
      const wanted = rows.reduce((sum, row) => sum + row[kind], 0);
      const others = kinds.reduce(
        (sum, other) => (other === kind ? sum : sum + dot(kind, other) * found[other]),
        0,
      );
      const square = dot(kind, kind);
      found[kind] = square === 0 ? 0 : Math.max(0, (wanted - others) / square);
    }
  }
  return found;
}
