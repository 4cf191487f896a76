import { colours } from './command.js';
import { compare, figure, ratioFigure } from './figures.js';

const LABEL = 27;
const NUMBER = 11;
const RATIO = 8;

const MESSAGES = ['delivered messages/s', ({ report }) => report.msgs_per_s];
const CPU = ['server CPU µs per message', (run) => run.cpuUsPerMessage, 'lower'];
const WRITES = ['system writes per message', (run) => run.writesPerMessage, 'lower'];
const P50 = ['latency p50, ms', ({ report }) => report.latency.p50, 'lower'];
const P99 = ['latency p99, ms', ({ report }) => report.latency.p99, 'lower'];

/** Latency under a closed load says only how much load there was, so it is shown for the equal one. */
const CAPACITY = [[...MESSAGES, 'higher'], CPU, WRITES];
const EQUAL = [MESSAGES, CPU, P50, P99, WRITES];

/**
 * The result as text.
 *
 * @param {object} results
 * @param {Pairs} results.capacity as many messages as the server can do
 * @param {Pairs} results.equal the same open load
 * @param {number} results.rate of the open load, delivered messages/s
 * @param {import('node:tty').WriteStream} [out] where it will be shown: colours only on a terminal
 * @returns {string}
 *
 * @typedef {Record<'direct' | 'adaptive', import('./measure.js').Run[]>} Pairs runs by arm, a round each
 */
export function table({ capacity, equal, rate }, out = process.stdout) {
  const paint = colours(out);
  const all = (arm) => [...capacity[arm], ...equal[arm]];
  const lines = [
    paint.bold(cells('', 'direct', 'adaptive', 'adaptive ÷ direct, rounds')),
    'As fast as it can: each client sends again when its last message is back',
    ...CAPACITY.map((row) => ratioRow(row, capacity, paint)),
    '',
    `The same load for both: ${figure(rate)} delivered messages/s, whatever the answers`,
    ...EQUAL.map((row) => ratioRow(row, equal, paint)),
    '',
    'Every delivery of all rounds',
    countRow('delivered', 'delivered', all, paint),
    ...['lost', 'duplicated', 'reordered'].map((name) => countRow(name, name, all, paint)),
  ];
  return lines.join('\n');
}

function ratioRow([label, value, better], pairs, paint) {
  const { control, treatment, ratio, range, verdict } = compare(
    pairs.direct.map(value),
    pairs.adaptive.map(value),
    better,
  );
  const colour = { better: paint.green, worse: paint.red }[verdict] ?? paint.dim;
  const rounds = pairs.direct.length > 1 ? range.map(ratioFigure).join('–') : '';
  return (
    cells(`  ${label}`, figure(control), figure(treatment)) +
    `${ratioFigure(ratio)}×`.padStart(RATIO) +
    `  ${colour(verdict.padEnd(6))}  ${paint.dim(rounds)}`
  ).trimEnd();
}

function countRow(label, name, runs, paint) {
  const [direct, adaptive] = ['direct', 'adaptive'].map((arm) =>
    runs(arm).reduce((sum, { report }) => sum + report[name], 0),
  );
  const line = cells(`  ${label}`, figure(direct), figure(adaptive));
  return name !== 'delivered' && direct + adaptive > 0 ? paint.red(line) : line;
}

function cells(label, direct, adaptive, last = '') {
  const line = label.padEnd(LABEL) + direct.padStart(NUMBER) + adaptive.padStart(NUMBER);
  return last === '' ? line : `${line}  ${last}`;
}
