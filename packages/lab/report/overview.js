import { isNumber, NONE, range, times } from './numbers.js';
import { figuresOf, groupBy, mainMetric } from './select.js';
import { count, headline } from './text.js';

/**
 * Overview of an experiment in rows: one for each claim, over all its cases and arms; without claims one for its
 * question, by the main metric.
 *
 * @param {object} results
 * @returns {OverviewRow[]}
 *
 * @typedef {object} OverviewRow
 * @property {string} text of the claim, or the question
 * @property {string} claimed
 * @property {string} times better, the least and the most of several
 * @property {string} interval, or of how many comparisons
 * @property {[word: string, many: number][]} words verdicts or findings
 */
export function overviewRows(results) {
  const { question, claims, refusal, figures, partial } = results;
  if (refusal || figures.length === 0) {
    const none = { claimed: NONE, times: NONE, interval: NONE };
    return [{ text: question, ...none, words: [[headline(results).word, 1]] }];
  }
  const ofClaims = [
    ...groupBy(claims, ({ text, source, metric }) => `${text}\n${source}\n${metric}`),
  ];
  const rows = ofClaims.map(([, group]) => ({
    ...{ text: group[0].text, claimed: `≥ ${times(group[0].atLeast)}` },
    ...summary(group, ({ verdict }) => verdict),
  }));
  const main = figuresOf(results, { metric: mainMetric(results)?.name });
  const all =
    rows.length > 0
      ? rows
      : [{ text: question, claimed: NONE, ...summary(main, ({ finding }) => finding) }];
  return partial ? all.map((row) => ({ ...row, words: [['partial', 1], ...row.words] })) : all;
}

function summary(items, wordOf) {
  const words = [...groupBy(items, wordOf)].map(([word, list]) => [word, list.length]);
  const known = items.map(({ ahead }) => ahead).filter(isNumber);
  if (items.length < 2 || known.length === 0) {
    const [{ ahead, lo, hi } = {}] = items;
    return { times: times(ahead), interval: range(lo, hi), words };
  }
  const [least, most] = [Math.min(...known), Math.max(...known)].map(times);
  const between = least === most ? least : `${least} to ${most}`;
  return { times: between, interval: `in ${count(items.length, 'comparison')}`, words };
}
