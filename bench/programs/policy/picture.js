/**
 * The picture of docs/explanation/adaptive.md: CPU per message against the median latency that a delay adds, a curve for each load through the
 * fixed ways, and `adaptive` as points on it. An SVG without scripts, that follows the reader's light or dark colours.
 */
import { writeFileSync } from 'node:fs';

const file = new URL('../../../docs/images/policy.svg', import.meta.url);
const width = 760;
const height = 470;
const plot = { left: 62, right: 690, top: 44, bottom: 410 };
/** Distinguished by eyes that see few colours, too: each curve is labelled where it begins. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8a6d00', '#56b4e9', '#6a3d9a'];

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; font-size: 15px; }
  .quiet { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .ground { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .ground { fill: #0d1117; }
  }`;

/**
 * @typedef {{ way: string, cpu: number, latency: number }} Point
 * @param {{ name: string, points: Point[] }[]} curves
 */
export function writePicture(curves) {
  writeFileSync(file, picture(curves));
}

/** @param {{ name: string, points: Point[] }[]} curves */
export function picture(curves) {
  const all = curves.flatMap(({ points }) => points);
  const x = logScale(
    all.map(({ latency }) => latency),
    plot.left,
    plot.right,
  );
  const y = logScale(
    all.map(({ cpu }) => cpu),
    plot.bottom,
    plot.top,
  );
  const body = [
    ...x.ticks.map((tick) => vertical(x.at(tick), String(tick))),
    ...y.ticks.map((tick) => horizontal(y.at(tick), String(tick))),
    ...curves.map((curve, i) => drawn(curve, colours[i % colours.length], x, y)),
  ];
  const [middle, side] = [(plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">CPU per message against median latency, by load: the longer the delay, the less CPU; adaptive lies on the curves</title>
<style>${style}
</style>
<rect class="ground" width="${width}" height="${height}"/>
<text class="title" x="${plot.left}" y="24">CPU per message, µs, against median latency, ms</text>
${body.join('\n')}
<text class="quiet" x="${middle}" y="${height - 16}" text-anchor="middle">median latency, ms: lines join direct, end of turn and fixed delays; dots are adaptive</text>
<text class="quiet" transform="rotate(-90 16 ${side})" x="16" y="${side}" text-anchor="middle">CPU per message, µs</text>
</svg>
`;
}

function drawn({ name, points }, colour, x, y) {
  const spot = ({ latency, cpu }) => [x.at(latency), y.at(cpu)].map((at) => at.toFixed(1));
  const isAdaptive = ({ way }) => way.startsWith('adaptive');
  const line = points.filter((each) => !isAdaptive(each)).toSorted((a, b) => a.latency - b.latency);
  const path = line.map((each, i) => `${i === 0 ? 'M' : 'L'}${spot(each).join(' ')}`).join('');
  const rings = line.map((each) => {
    const [cx, cy] = spot(each);
    return `<circle cx="${cx}" cy="${cy}" r="2.5" fill="${colour}"><title>${name}, ${each.way}</title></circle>`;
  });
  const dots = points.filter(isAdaptive).map((each) => {
    const [cx, cy] = spot(each);
    return `<circle cx="${cx}" cy="${cy}" r="6" fill="${colour}" fill-opacity="0.55" stroke="${colour}" stroke-width="1.5"><title>${name}, ${each.way}</title></circle>`;
  });
  const [labelX, labelY] = spot(line.at(-1));
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...rings,
    ...dots,
    `<text x="${Number(labelX) + 9}" y="${Number(labelY) + 4}">${name}/s</text>`,
  ].join('\n');
}

const vertical = (at, label) =>
  `<line class="grid" x1="${at}" y1="${plot.top}" x2="${at}" y2="${plot.bottom}"/><text class="quiet" x="${at}" y="${plot.bottom + 18}" text-anchor="middle">${label}</text>`;

const horizontal = (at, label) =>
  `<line class="grid" x1="${plot.left}" y1="${at}" x2="${plot.right}" y2="${at}"/><text class="quiet" x="${plot.left - 8}" y="${at + 4}" text-anchor="end">${label}</text>`;

/** Scale from the round figure below the least value to the one above the greatest. */
function logScale(values, from, to) {
  const round = [1, 2, 5].flatMap((digit) =>
    [-2, -1, 0, 1, 2, 3].map((power) => digit * 10 ** power),
  );
  const steps = round.map((value) => Number(value.toPrecision(1))).toSorted((a, b) => a - b);
  const least = steps.findLast((step) => step <= Math.min(...values)) ?? steps[0];
  const most = steps.find((step) => step >= Math.max(...values)) ?? steps.at(-1);
  const span = Math.log(most / least) || 1;
  return {
    ticks: steps.filter((step) => step >= least && step <= most),
    at: (value) => Math.round((from + ((to - from) * Math.log(value / least)) / span) * 10) / 10,
  };
}
