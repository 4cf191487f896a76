/** Formats rows and their figures as cells of Markdown. */
import { rows } from './rows.js';
import { runOf } from './store.js';

/** Runs with rows, in their order. */
export function runs() {
  return [...new Set(rows.map(({ bench }) => bench))].map(runOf).filter((run) => run);
}

/**
 * Returns the rows that have a figure, each with it. Where paths of the system differ, it is the figure of the first path, which is
 * available everywhere.
 *
 * @param {import('./rows.js').Row[]} [all]
 * @param {import('./store.js').Run[]} [kept]
 */
export function measuredRows(all = rows, kept = runs()) {
  const byBench = new Map(kept.map((run) => [run.bench, run]));
  return all.flatMap((row) => {
    const figure = byBench
      .get(row.bench)
      ?.figures.find((each) => ['case', 'metric', 'peer'].every((key) => each[key] === row[key]));
    return figure ? [{ row, figure }] : [];
  });
}

/** Returns the cells of a comparison: ours, theirs, and the ratio by which ours is better. */
export function results({ row, figure }) {
  const value = (of) => (/_(share|success)$/.test(row.metric) ? share(of) : number(of * row.scale));
  return [value(figure.ours), value(figure.theirs ?? figure.bound), ahead(figure)];
}

export const table = (head, body) =>
  [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** Blanks repeated names in the rows below the first. */
export const once = (cells, before) => (cells === before ? '' : cells);

function ahead({ ahead: times, lo, hi }) {
  if (lo === hi) return factor(times);
  return `${factor(times)} (${factor(lo)} to ${factor(hi)})`;
}

export const factor = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** Formats three digits: more would not be reproducible. */
export const number = (value) =>
  Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 });

const share = (value) => (value >= 1 ? 'all' : `${Number((value * 100).toPrecision(3))} %`);
