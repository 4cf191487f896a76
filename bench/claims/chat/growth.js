/**
 * Does the gain grow with load? A sentence for each treatment: how many times better it is in each case, and what
 * follows from the first and the last.
 *
 * @param {import('../../../packages/lab/experiment/results.js').Results} results
 * @param {string} metric its name
 * @param {string} title for people
 * @returns {string[]} none where there are not two cases to compare
 */
export function growth({ figures }, metric, title) {
  const ofMetric = figures.filter((figure) => figure.metric === metric && isNumber(figure.ahead));
  const names = [...new Set(ofMetric.map(({ arm }) => arm))];
  return names.flatMap((name) => {
    const byCase = ofMetric.filter(({ arm }) => arm === name);
    if (byCase.length < 2) return [];
    const steps = byCase.map((each) => `${each.ahead.toFixed(2)} at ${each.case}`).join(', ');
    return [`${title}, ${name}, times better than the control: ${steps}; ${verdict(byCase)}.`];
  });
}

/** Verdict on the growth: only intervals that lie apart tell of a difference. */
function verdict(byCase) {
  const [first, last] = [byCase[0], byCase.at(-1)];
  if (![first.lo, first.hi, last.lo, last.hi].every(isNumber)) return 'too few rounds to tell';
  if (last.lo > first.hi) return 'the gain grows with load';
  if (last.hi < first.lo) return 'the gain shrinks with load';
  return 'whether it grows with load cannot be told from these rounds';
}

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
