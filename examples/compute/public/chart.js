import UPlot from '/uplot.js';
import { bytes, ms } from '/write.js';

/** Seconds that a chart shows. */
export const SHOWN = 60;
/** Least height; a chart fills the place that there is. */
const HEIGHT = 150;

const color = (name) => () =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** A line is told from another by its dashes as well as by its colour. */
const DASHES = { solid: [], dashed: [8, 5], dotted: [2, 4] };

/** Range from 0 to at least `least`, so that a line that hardly moves looks like one. */
const upTo = (least) => ({ range: (_, __, most) => [0, Math.max(least, (most ?? 0) * 1.1)] });

export const CHARTS = {
  latency: {
    title: '/health, as this page asks it',
    lines: [{ field: 'health', name: 'latency', color: 'first', dash: 'solid' }],
    scale: { distr: 3, range: [1, 100_000] },
    axis: {
      splits: () => [1, 10, 100, 1000, 10_000, 100_000],
      values: (_, ticks) => ticks.map((tick) => (tick < 1000 ? `${tick} ms` : `${tick / 1000} s`)),
      filter: (_, ticks) => ticks,
    },
    now: ({ health }) => ms(health),
    empty: 'Waiting for the first answer…',
  },
  cores: {
    title: 'Cores',
    lines: [
      { field: 'busy', name: 'busy', color: 'first', dash: 'solid' },
      { field: 'loop', name: 'by the main thread', color: 'second', dash: 'dashed' },
    ],
    scale: upTo(1),
    axis: { incrs: [1, 2, 4, 8, 16, 32] },
    now: ({ busy, cores }) => `${busy.toFixed(1)} of ${cores}`,
    empty: 'Waiting for the server…',
  },
  tasks: {
    title: 'Tasks of the pool',
    lines: [
      { field: 'running', name: 'running', color: 'first', dash: 'solid' },
      { field: 'queued', name: 'waiting', color: 'third', dash: 'dashed' },
      { field: 'workers', name: 'threads', color: 'quiet', dash: 'dotted' },
    ],
    scale: upTo(4),
    axis: { incrs: [1, 2, 4, 10, 20, 50, 100, 1000] },
    now: ({ running, queued }) => `${running} running, ${queued} waiting`,
    empty: 'Start something in the pool.',
    isEmpty: ({ running, queued }) => running + queued === 0,
  },
  memory: {
    title: 'Memory',
    lines: [{ field: 'rss', name: 'of the process', color: 'first', dash: 'solid' }],
    scale: upTo(200e6),
    axis: {
      values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '0' : bytes(tick))),
      incrs: [5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9],
    },
    now: ({ rss }) => bytes(rss),
    empty: 'Waiting for the server…',
  },
};

/** @returns {{ show: (points: object[], now: number) => void }} */
export function drawChart(place, chart) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  const title = document.createElement('b');
  title.textContent = chart.title;
  const figures = document.createElement('output');
  figures.textContent = '–';
  caption.append(title, figures, ...chart.lines.map(key));
  const canvas = document.createElement('div');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${chart.title}, over the last ${SHOWN} seconds`);
  const empty = document.createElement('p');
  empty.className = 'empty';
  empty.textContent = chart.empty;
  canvas.append(empty);
  figure.append(caption, canvas);
  place.append(figure);

  const axis = {
    stroke: color('quiet'),
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  const plot = new UPlot(
    {
      width: 300,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      padding: [8, 12, 0, 0],
      scales: { x: { time: false, range: [-SHOWN, 0] }, y: chart.scale },
      series: [
        {},
        ...chart.lines.map((line) => ({
          stroke: color(line.color),
          width: 2,
          dash: DASHES[line.dash],
          points: { show: false },
        })),
      ],
      axes: [
        { ...axis, size: 22, gap: 3, incrs: [15], values: (_, ticks) => ticks.map(ago) },
        { ...axis, size: 56, gap: 4, space: 26, ...chart.axis },
      ],
    },
    [[], ...chart.lines.map(() => [])],
    canvas,
  );
  new ResizeObserver(() =>
    plot.setSize({ width: canvas.clientWidth, height: Math.max(HEIGHT, canvas.clientHeight) }),
  ).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    plot.redraw(false, true),
  );

  return {
    show(points, now) {
      const lines = chart.lines.map(({ field }) => points.map((point) => point[field]));
      plot.setData([points.map(({ at }) => (at - now) / 1000), ...lines]);
      const last = points.findLast((point) => point[chart.lines[0].field] !== null);
      figures.textContent = last ? chart.now(last) : '–';
      const hasNothing = chart.isEmpty ?? ((point) => point[chart.lines[0].field] === null);
      empty.hidden = !points.every(hasNothing);
    },
  };
}

/** The leftmost has no room beside the other axis. */
function ago(seconds) {
  if (seconds === 0) return 'now';
  return seconds > -SHOWN ? `${-seconds} s ago` : '';
}

/** The name of a line, with a piece of it. */
function key({ name, color: of, dash }) {
  const span = document.createElement('span');
  span.className = `key of-${of} ${dash}`;
  span.textContent = name;
  return span;
}
