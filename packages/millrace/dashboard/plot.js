/** How a chart is drawn: what uPlot is told. */
import { format, time } from './format.js';
import { stroke } from './legend.js';
import { marksHeight } from './marks.js';
import { colour } from './theme.js';

export const height = 182;
/** Distances of grid lines that are whole KiB, MiB or GiB. */
const binarySteps = Array.from({ length: 44 }, (_, n) => 2 ** n);

const axis = {
  stroke: () => colour('--soft'),
  font: '11px system-ui, sans-serif',
  grid: { stroke: () => colour('--grid'), width: 1 },
  ticks: { show: false },
};

/**
 * @param {{ unit: string, most?: number }} definition
 * @param {{ label: string, place: number, dashed?: boolean, isShown: boolean }[]} lines
 * @param {number} width
 */
export function plotOptions({ unit, most = 0 }, lines, width) {
  return {
    width,
    height,
    padding: [marksHeight, 30, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: true, auto: false },
      y: { range: (_, __, max) => [0, Math.max((max ?? 0) * 1.1, most) || 1] },
    },
    series: [
      {},
      ...lines.map(({ label, place, dashed, isShown }) => ({
        label,
        show: isShown,
        stroke: () => stroke(place),
        width: 1.5,
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
