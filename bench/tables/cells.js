/** Rows and their figures as cells of Markdown. */
import { percent } from '../lib/table.js';
import { rows } from './rows.js';
import { runOf } from './store.js';

/** The runs that rows are about, in their order. */
export function runs() {
  return [...new Set(rows.map(({ bench }) => bench))].map(runOf).filter((run) => run);
}

/**
 * The rows for which there is a figure, each with it. Where paths of the system differ, it is that of the first one, which is everywhere.
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

/** Cells that say how an arm did: ours, theirs, and how many times better ours is. */
export function results({ row, figure }) {
  const value = (of) => (/_(share|success)$/.test(row.metric) ? share(of) : number(of * row.scale));
  return [value(figure.ours), value(figure.theirs ?? figure.bound), ahead(figure)];
}

export const table = (head, body) =>
  [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** A name is told once: below it, nothing. */
export const once = (cells, before) => (cells === before ? '' : cells);

/** Number of rounds of a figure, and the level that its interval attains. */
export const sample = ({ n, level }) => `${n}, ${percent(level)}`;

function ahead({ ahead: times, lo, hi }) {
  if (lo === hi) return factor(times);
  return `${factor(times)} (${factor(lo)} to ${factor(hi)})`;
}

export const factor = (value) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

/** Three digits: more would not come out again. */
export const number = (value) =>
  Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 });

const share = (value) => (value >= 1 ? 'all' : `${Number((value * 100).toPrecision(3))} %`);
