/** The figures as a table for people. */
import { verdict } from './verdict.js';

const head = [
  'case',
  'metric',
  'backend',
  'peer',
  'ours',
  'theirs',
  'ahead',
  'interval',
  'level',
  'rounds',
  'target',
  '',
];
const alignedRight = new Set([
  ...['ours', 'theirs', 'ahead', 'interval', 'level', 'rounds', 'target'],
]);

/** @param {{ figure: import('./figure.js').Figure, target?: number }[]} entries */
export function table(entries) {
  const rows = entries.map(({ figure, target }) => [
    figure.case,
    figure.metric,
    figure.backend,
    figure.peer ?? '(bound)',
    number(figure.ours),
    number(figure.theirs ?? figure.bound),
    times(figure.ahead),
    `${times(figure.lo)} to ${times(figure.hi)}`,
    percent(figure.level),
    String(figure.n),
    target === undefined ? '' : `>= ${times(target)}`,
    verdict(figure, target),
  ]);
  const widths = head.map((title, i) => Math.max(...[head, ...rows].map((row) => row[i].length)));
  const line = (row) =>
    row
      .map((cell, i) =>
        alignedRight.has(head[i]) ? cell.padStart(widths[i]) : cell.padEnd(widths[i]),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join(
    '\n',
  );
}

export const percent = (level) => `${Number((level * 100).toPrecision(3))} %`;

const times = (value) => `${value >= 100 ? value.toFixed(0) : value.toFixed(2)}x`;

function number(value) {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
