import { colours } from '../run/colour.js';
import { figure as number, ratioFigure } from '../run/figures.js';

const GAP = '  ';
const WIDTH = 100;

/**
 * The results for people: a block for each metric with a line for each case, or, where one case only was
 * measured, a line for each metric; then the claims.
 *
 * @param {import('./format.js').Experiment} experiment
 * @param {import('./run.js').Results} results
 * @param {import('node:tty').WriteStream} [out] where it will be shown: colours only on a terminal
 * @returns {string}
 */
export function table(experiment, results, out = process.stdout) {
  const paint = colours(out);
  const [first, ...others] = new Set(results.figures.map((figure) => figure.case));
  const isSweep = others.length > 0;
  const blocks = isSweep
    ? experiment.metrics.map((metric) => ({
        head: metricTitle(metric),
        rows: results.figures
          .filter((figure) => figure.metric === metric.name)
          .map((figure) => row(figure.case, figure)),
      }))
    : [
        {
          head: '',
          rows: experiment.metrics.map((metric, i) => row(metricTitle(metric), results.figures[i])),
        },
      ];
  const { control, treatment } = experiment;
  const isPublished = results.figures.some(({ paper }) => paper !== null);
  const head = [isSweep ? '' : first, control.name, treatment.name, 'ahead', 'of the rounds'];
  const published = [`paper: ${control.name}`, treatment.name, 'ahead'];
  const titles = isPublished ? [...head, ...published] : head;
  const all = [titles, ...blocks.flatMap(({ rows }) => rows)].map((cells) =>
    cells.slice(0, titles.length),
  );
  const widths = titles.map((_, i) => Math.max(...all.map((cells) => cells[i].length)));
  const line = (cells) =>
    widths
      .map((width, i) => (i === 0 ? cells[i].padEnd(width) : cells[i].padStart(width)))
      .join(GAP)
      .trimEnd();
  const lines = [paint.bold(line(titles))];
  for (const { head: title, rows } of blocks) {
    if (title !== '') lines.push('', paint.bold(title));
    lines.push(...rows.map(line));
  }
  return [...lines, ...claimLines(results, paint), ...noteLines(results)].join('\n');
}

/** A sentence or two about an experiment, above its table. */
export function introduction({ question, about, control, treatment }) {
  const text = [question, `Arms: ${control.name}, ${treatment.name}.`, about ?? ''];
  return text
    .filter((each) => each !== '')
    .map((each) => wrap(each, ''))
    .join('\n');
}

function row(label, figure) {
  const { control, treatment, n, paper } = figure;
  // Neither is better: a ratio would look like a verdict.
  const { ahead, lo, hi } = figure.better === null ? { ahead: null } : figure;
  return [
    label,
    cell(control),
    cell(treatment),
    times(ahead),
    ahead === null || n < 2 ? '' : `${ratioFigure(lo)}–${ratioFigure(hi)}`,
    cell(paper?.control),
    cell(paper?.treatment),
    times(figure.better === null ? null : paper?.ahead),
  ];
}

function metricTitle({ title, unit, better }) {
  const named = unit === '' ? title : `${title}, ${unit}`;
  return better === undefined ? named : `${named} (${better} is better)`;
}

function claimLines({ claims, figures }, paint) {
  if (claims.length === 0) return [];
  const colour = { met: paint.green, refuted: paint.red, 'not met': paint.red };
  const lines = ['', paint.bold('Claims')];
  let last;
  for (const { text, source, verdict, atLeast, says, ...claim } of claims) {
    if (text !== last) lines.push(wrap(`"${text}" (${source})`, ''));
    last = text;
    const where = claim.case === '' ? '' : `${claim.case}: `;
    const rounds = figures.find((each) => each.case === claim.case)?.n;
    const measured =
      claim.ahead === null
        ? `claimed ${times(atLeast)}`
        : `${times(claim.ahead)} (${ratioFigure(claim.lo)}–${ratioFigure(claim.hi)}, ` +
          `${rounds} ${rounds === 1 ? 'round' : 'rounds'}), claimed ${times(atLeast)}`;
    const head = `  ${where}${(colour[verdict] ?? paint.dim)(verdict)}, ${measured}`;
    lines.push(says === null ? head : `${head}\n${wrap(says, '    ')}`);
  }
  return lines;
}

function noteLines({ notes }) {
  return notes.length === 0 ? [] : ['', ...notes.map((note) => wrap(note, ''))];
}

const cell = (value) => (value === null || value === undefined ? '–' : number(value));
const times = (value) => (value === null || value === undefined ? '–' : `${ratioFigure(value)}×`);

/** Breaks a text between words; lines that it has already stay. */
function wrap(text, indent) {
  const width = WIDTH - indent.length;
  return text
    .split('\n')
    .map((line) =>
      line.replace(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), `${indent}$1\n`).replace(/\n$/, ''),
    )
    .join('\n');
}
