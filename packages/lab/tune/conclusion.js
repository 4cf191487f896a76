/** Conclusion of `tune`: the command line that won, or that none did. Pure. */
import { mainMetric } from '../report/select.js';
import { commandLine } from './switches.js';

const times = (ratio) => ratio.toFixed(2);

/**
 * Returns the sentences after the results. Findings are corrected for the number of switches; the interval of each switch is not.
 *
 * @param {import('../experiment/judge.js').Results} results
 * @param {{ command: string, switches: import('./switches.js').Switch[] }} tried
 * @returns {string[]}
 */
export function conclusion(results, { command, switches }) {
  const { name, title } = mainMetric(results);
  const figures = results.figures.filter(({ metric }) => metric === name);
  const better = figures
    .filter(({ finding }) => finding === 'better')
    .sort((a, b) => (b.ahead ?? 0) - (a.ahead ?? 0));
  const told = ({ arm, ahead, lo, hi }) =>
    ahead === null ? arm : `${arm}, ${times(ahead)} times (${times(lo)} to ${times(hi)})`;
  const corrected = `Findings are corrected for ${count(figures.length, 'switch', 'switches')} (Holm); each interval is one of 95 % by itself.`;
  if (better.length === 0) return [none(figures, title), corrected];
  const [best, ...others] = better;
  const winner = switches.find((each) => each.name === best.arm);
  return [
    `Best in ${title}: ${told(best)}. Start the server so: ${commandLine(command, winner)}`,
    ...(others.length > 0
      ? [
          `Also better: ${others.map(told).join('; ')}. Each was tried by itself: compare two together with millrace compare.`,
        ]
      : []),
    corrected,
  ];
}

function none(figures, title) {
  const open = figures.filter(({ finding }) => finding === 'undecided').length;
  const head = `None of ${count(figures.length, 'switch', 'switches')} made the server surely better in ${title}: leave it as it is.`;
  if (open === 0) return head;
  return `${head} ${count(open, 'is', 'are')} undecided: more rounds (-n) or a quieter machine may tell.`;
}

const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
