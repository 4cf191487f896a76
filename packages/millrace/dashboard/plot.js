/** Options of uPlot for a chart. */
import { format, time } from './format.js';
import { stroke } from './legend.js';
import { marksHeight } from './marks.js';
import { colour } from './theme.js';

export const height = 182;
/** Distances between grid lines in whole KiB, MiB or GiB. */
const binarySteps = Array.from({ length: 44 }, (_, n) => 2 ** n);

/** Least value on a logarithmic axis. */
const leastOfLog = 0.01;
/** Converts values for a logarithmic axis. A time of 0 means no event and becomes a gap. */
export const positive = (values) =>
  values.map((value) => (value ? Math.max(value, leastOfLog) : null));
const decade = (value, round) => 10 ** round(Math.log10(value));

const linear = (most) => ({ range: (_, __, max) => [0, Math.max((max ?? 0) * 1.1, most) || 1] });
/** Returns a range of whole decades, at least two, so that noise does not look like a change. */
const logarithmic = {
  distr: 3,
  range(_, min, max) {
    const from = decade(min || leastOfLog, Math.floor);
    return [from, Math.max(decade((max || from) * 1.0001, Math.ceil), from * 100)];
  },
};
/** Returns labels for the decades; the lines between have none. */
const decades = {
  splits: (_, __, min, max) =>
    Array.from({ length: Math.round(Math.log10(max / min)) + 1 }, (_, n) => min * 10 ** n),
  filter: (_, splits) => splits,
};

const axis = {
  stroke: () => colour('--soft'),
  font: '11px system-ui, sans-serif',
  grid: { stroke: () => colour('--grid'), width: 1 },
  ticks: { show: false },
};

/**
 * @param {{ unit: string, most?: number, log?: boolean, emphasis?: string }} definition
 * @param {{ label: string, place: number, dashed?: boolean, isShown: boolean, isEmphasised: boolean }[]} lines
 * @param {number} width
 */
export function plotOptions({ unit, most = 0, log = false, emphasis }, lines, width) {
  return {
    width,
    height,
    padding: [marksHeight, 30, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, auto: false },
      y: log ? logarithmic : linear(most),
    },
    series: [
      {},
      ...lines.map(({ label, place, dashed, isShown, isEmphasised }) => ({
        label,
        show: isShown,
        stroke: () => stroke(place),
        width: emphasis === undefined ? 1.5 : isEmphasised ? 2.5 : 1,
        ...(dashed ? { dash: [5, 4] } : {}),
        points: { show: (_, __, from, to) => to - from < 2 },
      })),
    ],
    axes: [
      { ...axis, size: 26, space: 70, values: (_, splits) => splits.map(time) },
      {
        ...axis,
        size: 62,
        ...(unit.startsWith('bytes') ? { incrs: binarySteps } : {}),
        ...(log ? decades : {}),
        space: 34,
        values: (_, splits) => splits.map((value) => format(value, unit)),
      },
    ],
    cursor: {
      sync: { key: 'millrace', scales: ['x', null] },
      drag: { x: true, y: false, setScale: false },
      focus: { prox: -1 },
      y: false,
      points: { size: 7 },
    },
  };
}
