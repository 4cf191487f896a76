import { figure as number } from '../run/figures.js';

/** Cores that other work took, from which on it is worth a warning. */
const NOISY = 0.1;

/**
 * Under what an experiment was run, a line each, for below its table.
 *
 * @param {import('./judge.js').Results} results
 * @returns {string[]}
 */
export function circumstances({ host, runs, seed, seconds, partial }) {
  const sum = (of) => runs.reduce((total, { costs }) => total + of(costs), 0);
  const others = sum(({ othersS }) => othersS) / sum(({ wallS }) => wallS);
  const resent = runs.flatMap(({ answers = [] }) => answers).filter(({ isResent }) => isResent);
  return [
    ...(partial === null ? [] : [`Partial: ${partial}.`]),
    ...(resent.length > 0
      ? [`${resent.length} requests were sent twice: their connections were closed unread.`]
      : []),
    ...(others > NOISY
      ? [`Other work took ${number(others)} of ${host.cores} cores meanwhile: expect noise.`]
      : []),
    `${host.cpu}, ${host.cores} cores, ${host.kernel}, Node ${host.node}; seed ${seed}, ${seconds.toFixed(0)} s`,
  ];
}
