import UPlot from '/uplot.js';

/** Seconds under load that a chart shows, at most. */
const SHOWN = 30;
const HEIGHT = 132;

const color = (name) => () =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** A line is told from another by its dashes as well as by its colour. */
const DASHES = { solid: [], dashed: [8, 5], dotted: [2, 4], thin: [] };

/** @type {Record<string, { title: string, lines: { field, name, color, dash }[], scale: object, axis: object }>} */
export const CHARTS = {
  good: {
    title: 'Fresh answers a second',
    lines: [
      { field: 'fresh', name: 'fresh', color: 'good', dash: 'solid' },
      { field: 'capacity', name: 'what one server can do', color: 'quiet', dash: 'thin' },
    ],
    scale: (about) => ({ range: [0, about.capacity * 1.35] }),
    axis: { values: (_, ticks) => ticks.map(String) },
  },
  ended: {
    title: 'Share of all requests',
    lines: [
      { field: 'refused', name: 'refused', color: 'refused', dash: 'solid' },
      { field: 'copied', name: 'copies', color: 'copies', dash: 'dashed' },
      { field: 'missed', name: 'failed', color: 'failed', dash: 'dotted' },
    ],
    scale: () => ({ range: [0, 1] }),
    axis: {
      splits: () => [0, 0.25, 0.5, 0.75, 1],
      values: (_, ticks) => ticks.map((tick) => ((tick * 100) % 50 === 0 ? `${tick * 100} %` : '')),
    },
  },
  latency: {
    title: 'Latency',
    lines: [
      { field: 'p50', name: 'p50', color: 'good', dash: 'solid' },
      { field: 'p99', name: 'p99', color: 'refused', dash: 'dashed' },
      { field: 'healthP99', name: '/health p99', color: 'copies', dash: 'dotted' },
      { field: 'limit', name: 'good', color: 'quiet', dash: 'thin' },
    ],
    scale: () => ({ distr: 3, range: [1, 3000] }),
    axis: {
      splits: () => [1, 10, 100, 1000],
      values: (_, ticks) => ticks.map((tick) => (tick < 1000 ? `${tick} ms` : `${tick / 1000} s`)),
      filter: (_, ticks) => ticks,
    },
  },
};

/** Values of a point of the results that the charts draw. */
export function figures(point, about) {
  const ended = point.fresh + point.copies + point.late + point.shed + point.failed;
  const share = (count) => (ended > 0 ? count / ended : null);
  return {
    ...point,
    capacity: about.capacity,
    limit: about.goodMs,
    refused: share(point.shed),
    copied: share(point.copies),
    missed: share(point.late + point.failed),
  };
}

/** @returns {{ show: (points: object[]) => void }} */
export function drawChart(place, chart, about, label) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  const title = document.createElement('b');
  title.textContent = chart.title;
  caption.append(title, ...chart.lines.map(key));
  const canvas = document.createElement('div');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute(
    'aria-label',
    `${chart.title}, ${label}, over the last ${SHOWN} seconds of load at most`,
  );
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
      padding: [8, 16, 0, 0],
      scales: {
        x: {
          time: false,
          // A turn from side to side; longer load moves through.
          range: (_, __, max) => {
            const end = Math.max(max, Math.min(about.turnSeconds, SHOWN));
            return [Math.max(0, end - SHOWN), end];
          },
        },
        y: chart.scale(about),
      },
      series: [
        {},
        ...chart.lines.map((line) => ({
          stroke: color(line.color),
          width: line.dash === 'thin' ? 1 : 2,
          dash: DASHES[line.dash],
          points: { show: false },
        })),
      ],
      axes: [
        {
          ...axis,
          size: 22,
          gap: 3,
          space: 60,
          values: (_, ticks) => ticks.map((tick) => (tick === 0 ? '' : `${tick} s`)),
        },
        { ...axis, size: 44, gap: 4, space: 28, ...chart.axis },
      ],
    },
    [[], ...chart.lines.map(() => [])],
    canvas,
  );
  new ResizeObserver(() => {
    // Without a width it is hidden: there is nothing to draw yet.
    if (canvas.clientWidth > 0) plot.setSize({ width: canvas.clientWidth, height: HEIGHT });
  }).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
    plot.redraw(false, true),
  );

  return {
    show(points) {
      const lines = chart.lines.map(({ field }) => points.map((point) => point[field]));
      plot.setData([points.map(({ t }) => t), ...lines]);
    },
  };
}

/** The name of a line, with a piece of it. */
function key({ name, color: of, dash }) {
  const span = document.createElement('span');
  span.className = `key of-${of} ${dash}`;
  span.textContent = name;
  return span;
}
