/**
 * The report on a terminal: a sentence that says what was found, bars of throughput and CPU with intervals, latency, and the rounds. The table
 * with p values is made by `experiment/table.js`.
 */
import { clip, WIDTH, wrap } from '../experiment/progress.js';
import { colours } from '../run/command.js';
import { median } from '../stats/index.js';
import { armIntervals } from './intervals.js';
import { isNumber, NONE, quantity, range, times } from './numbers.js';
import { figuresOf, keyMetrics, mainMetric, runsOf, shownArms } from './select.js';
import { capital, headline, rowWord, symbol } from './text.js';

const BAR_WIDTH = 24;
const NAME_WIDTH = 14;
const GAP = '  ';

/** Eighths of a character. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const LEVELS = '▁▂▃▄▅▆▇█';

const PERCENTILES = [
  [0.5, 'p50'],
  [0.9, 'p90'],
  [0.99, 'p99'],
  [0.999, 'p99.9'],
];

/** Colours of the words that say which arm is better. */
const COLOURS = { better: 'green', met: 'green', worse: 'red', refuted: 'red', refused: 'red' };

/**
 * @param {object} results
 * @param {import('node:tty').WriteStream} [out] where it will be shown: colours only on a terminal
 * @returns {string} lines of at most 100 columns; of several cases the sentence alone
 */
export function summary(results, out = process.stdout) {
  const paint = colours(out);
  const { word, title } = headline(results);
  const coloured = (text, shown = text) => (paint[COLOURS[text]] ?? paint.bold)(shown);
  const verdict = capital(word);
  const text = wrap(`${symbol(word)} ${verdict}. ${title}`);
  const sentence = text.replace(verdict, () => coloured(word, verdict));
  if (results.figures.length === 0 || results.cases.length > 1) return sentence;
  const [label = ''] = results.cases;
  const width = Math.max(...shownArms(results).map(({ name }) => name.length));
  const shown = { label, paint, nameOf: nameIn(Math.min(NAME_WIDTH, width)) };
  const blocks = [
    ...keyMetrics(results).map((metric) => barLines(results, metric, { ...shown, coloured })),
    latencyLines(results, shown),
    roundLines(results, shown),
  ];
  return [
    sentence,
    ...blocks.filter((lines) => lines.length > 0).map((lines) => lines.join('\n')),
  ].join('\n\n');
}

function barLines(results, { name, title, unit }, { label, coloured, paint, nameOf }) {
  const arms = armIntervals(results, { case: label, metric: name });
  if (arms.length < 2) return [];
  const most = Math.max(...arms.map(({ value }) => value));
  const values = padded(arms.map(({ value }) => quantity(value)));
  const intervals = arms.map(({ lo, hi }) => range(lo, hi, quantity));
  const width = Math.max(...intervals.map(({ length }) => length));
  const figures = figuresOf(results, { case: label, metric: name });
  return [
    paint.bold(capital([title, unit].filter((each) => each !== '').join(', '))),
    ...arms.map(({ arm, value }, i) => {
      const figure = arm.role === 'treatment' && figures.find((each) => each.arm === arm.name);
      const gain = figure
        ? `${times(figure.ahead)}× (${range(figure.lo, figure.hi)}) ${coloured(rowWord(results, figure))}`
        : '';
      return [
        `${GAP}${nameOf(arm)}`,
        bar(value / most).padEnd(BAR_WIDTH),
        ...[values[i], paint.dim(intervals[i].padEnd(width)), gain],
      ]
        .join(GAP)
        .trimEnd();
    }),
  ];
}

function bar(share) {
  if (!(share > 0)) return '';
  const eighths = Math.round(share * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}

function latencyLines(results, { label, paint, nameOf }) {
  const rows = shownArms(results)
    .filter(({ role }) => role !== 'twin')
    .map((arm) => {
      const all = runsOf(results, arm, label).map(({ percentiles }) => percentiles ?? []);
      return { arm, values: PERCENTILES.map(([share]) => percentile(all, share)) };
    });
  const shown = PERCENTILES.map((_, i) => i).filter((i) =>
    rows.every(({ values }) => values[i] !== null),
  );
  if (shown.length === 0) return [];
  const columns = shown.map((i) =>
    padded([PERCENTILES[i][1], ...rows.map(({ values }) => quantity(values[i]))]),
  );
  const line = (name, row) => [name, ...columns.map((column) => column[row].padStart(8))].join('');
  const title = 'Latency, ms';
  const heads = rows.map(({ arm }) => `${GAP}${nameOf(arm)}`);
  const width = Math.max(...[title, ...heads].map(({ length }) => length));
  return [
    paint.bold(line(title.padEnd(width), 0)),
    ...heads.map((head, i) => line(head.padEnd(width), i + 1)),
  ];
}

/** The median of the runs; null unless each of them has it. */
function percentile(all, share) {
  const values = all.map((list) => list.find(([each]) => each === share)?.[1]);
  return values.length > 0 && values.every(isNumber) ? median(values) : null;
}

/** Ratios of each round, for each treatment. */
function roundLines(results, { label, paint, nameOf }) {
  const metric = mainMetric(results);
  const figures = figuresOf(results, { case: label, metric: metric?.name }).filter(
    ({ better }) => better,
  );
  const lines = figures
    .map(({ arm, better, values: { control, treatment } }) => {
      const ratios = control.map((value, i) =>
        better === 'higher' ? treatment[i] / value : value / treatment[i],
      );
      return { arm, ratios };
    })
    .filter(({ ratios }) => ratios.length > 1 && ratios.every(isNumber))
    .map(({ arm, ratios }) => {
      const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
      const ahead = ratios.filter((ratio) => ratio > 1).length;
      const name = nameOf({ title: arm });
      return `${GAP}${name}${GAP}better in ${ahead} of ${ratios.length}, ${times(least)}× to ${times(most)}×  ${line(ratios, least, most)}`;
    });
  if (lines.length === 0) return [];
  return [paint.bold(`Round by round, ${metric.title}`), ...lines];
}

function line(ratios, least, most) {
  // As many as have room.
  const shown = ratios.slice(0, WIDTH - 60);
  const level = (ratio) =>
    most === least ? 0 : Math.round(((ratio - least) / (most - least)) * (LEVELS.length - 1));
  return (
    shown.map((ratio) => LEVELS[level(ratio)]).join('') + (shown.length < ratios.length ? '…' : '')
  );
}

const nameIn =
  (width) =>
  ({ title }) =>
    clip(title, width).padEnd(width);

/** Pads texts to the right. */
function padded(texts) {
  const width = Math.max(...texts.map(({ length }) => length));
  return texts.map((text) => (text === NONE ? '' : text).padStart(width));
}
