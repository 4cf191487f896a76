/**
 * Draws measured figures. Every number comes from a file that the repository keeps: bench/measured, and the page of the soak. The pictures
 * show the same rows as the tables beside them, the losses included. A colour never stands alone: a row that is ahead has a filled blue
 * mark, one that is behind a filled orange mark, and one without a clear difference a hollow mark.
 */
import { readFileSync } from 'node:fs';
import { factor, measuredRows, number, results } from '../../bench/tables/cells.js';
import { shortRows } from '../../bench/tables/pages.js';
import { figureOf } from '../../bench/tables/store.js';
import { quantile } from '../../packages/lab/stats/index.js';
import {
  bar,
  dot,
  line,
  linear,
  lineHeight,
  logarithmic,
  plain,
  svg,
  text,
  titled,
  width,
  wrapped,
} from './svg.js';

/** Benchmarks whose short rows are drawn: a Node.js server's tasks without any change of its architecture. */
const drawn = ['fanout', 'batch', 'files', 'guard'];

/** Draws the rows of the short table in README.md as pairs of bars. */
export function beforeAndAfter() {
  const [from, most] = [112, 108];
  let y = 56;
  const body = shortRows(measuredRows())
    .filter(({ row }) => drawn.includes(row.bench))
    .flatMap(({ what, row, figure }) => {
      const isLess = figure.better === 'lower';
      const label = `${plain(what)}: ${row.figure}${isLess ? ' (less is better)' : ''}`;
      const lines = wrapped(label, width, true);
      const [ours, theirs] = results({ row, figure });
      const longest = Math.max(figure.ours, figure.theirs);
      const times = `${factor(figure.ahead)}× (${factor(figure.lo)} to ${factor(figure.hi)})`;
      const pair = [
        [plain(row.against), figure.theirs, theirs, 'other', ''],
        ['Millrace', figure.ours, ours, figure.hi < 1 ? 'bad' : 'good', times],
      ];
      const parts = lines.map((words, i) => text(0, y + i * lineHeight, words, 'strong'));
      y += (lines.length - 1) * lineHeight + 5;
      for (const [name, value, told, kind, ratio] of pair) {
        const length = (value / longest) * most;
        parts.push(
          text(from - 6, y + 11, name, 'quiet', 'end'),
          bar(from, y + 2, length, 11, kind),
          text(from + length + 6, y + 11, told),
          ...(ratio ? [text(width, y + 11, ratio, 'strong', 'end')] : []),
        );
        y += 16;
      }
      y += 19;
      return parts;
    });
  return svg({
    title: 'Without and with Millrace',
    description:
      'Pairs of bars: what a server does without Millrace and with it, as fast as it can and, below, under a moderate load. The ratio of each pair stands at its end, with its interval; the rows are those of the table in the first page.',
    height: y - 8,
    body: [
      text(0, 34, 'grey: without; blue: with Millrace; orange: Millrace is behind', 'quiet'),
      ...body,
    ],
  });
}

const scaleOfRatios = [0.1, 1000];
const kindOf = ({ lo, hi }) => (lo > 1 ? 'good' : hi < 1 ? 'bad' : 'other');

/** Distance between two rows, and between two benchmarks. */
const rowHeight = 10;
const gap = 12;

/** Draws every row of docs/benchmarks/measured.md in its order: the ratio and its interval, on a logarithmic axis. */
export function forest() {
  const [left, right] = [96, 424];
  const x = logarithmic(scaleOfRatios, left, right);
  const ticks = [0.1, 1, 10, 100, 1000];
  const all = measuredRows();
  const benches = [...new Set(all.map(({ row }) => row.bench))];
  let y = 70;
  const marks = benches.flatMap((bench) => {
    const rows = all.filter(({ row }) => row.bench === bench);
    const parts = [text(0, y + 4, bench, 'strong')];
    for (const { row, figure } of rows) {
      const kind = kindOf(figure);
      const words = `${row.what}, ${row.figure}, ${row.against}: ${factor(figure.ahead)}`;
      parts.push(
        line(x(figure.lo), y, x(figure.hi), y, kind, 2),
        titled(dot(x(figure.ahead), y, kind === 'other' ? 'other open' : kind, 3.5), plain(words)),
      );
      y += rowHeight;
    }
    y += gap - Math.min(0, (rows.length - 1) * rowHeight - gap / 2);
    return parts;
  });
  const axis = (at) => ticks.map((tick) => text(x(tick), at, `${tick}`, 'quiet', 'middle'));
  return svg({
    title: 'How many times better Millrace is',
    description:
      'A forest plot of every measured row, in the order of the table. A dot is the ratio, its line the interval. Right of 1 Millrace is ahead, left of 1 it is behind; a hollow dot has 1 in its interval. The table has the same figures as text.',
    height: y + 16,
    body: [
      text(0, 34, 'blue: ahead; orange: behind; hollow: no difference found', 'quiet'),
      ...axis(54),
      ...ticks.map((tick) => line(x(tick), 59, x(tick), y - 8, tick === 1 ? 'limit' : 'grid')),
      ...marks,
      ...axis(y + 6),
    ],
  });
}

/** Draws latencies of one case: from p50 to p99, or p99 alone. */
const waits = [
  {
    head: 'a chat of 500 WebSockets: p50 to p99',
    metrics: ['p50_ms', 'p99_ms'],
    cases: [
      ['a third of what ws can take', 'chat-slice', '500x10 third', 'direct', 'ws'],
      ['twice what ws can take', 'chat-slice', '500x10 2x saturation', 'direct', 'ws'],
    ],
  },
  {
    head: 'rooms of 500 WebSockets, 143,000 messages/s: p50 to p99',
    metrics: ['p50_ms', 'p99_ms'],
    cases: [['about what ws can take', 'fanout', '500x10 143k', 'ws', 'ws']],
  },
  {
    head: '/health of a server behind the guard: p99',
    metrics: ['health_p99_ms'],
    cases: [
      ['1.5 times its capacity', 'guard', 'async 1.5x', 'unprotected', 'unprotected'],
      ['twice its capacity', 'guard', 'mixed 2x', 'unprotected', 'unprotected'],
      ['ten times its capacity', 'guard', '25ms open 10x', null, null],
    ],
  },
];

/** Draws latency by offered load, on a logarithmic axis, with Millrace and without. */
export function latency() {
  const [left, right] = [104, 392];
  const x = logarithmic([0.1, 10_000], left, right);
  const ticks = [
    [0.1, '0.1'],
    [1, '1 ms'],
    [10, '10'],
    [100, '100'],
    [1000, '1 s'],
    [10_000, '10'],
  ];
  let y = 62;
  const rows = waits.flatMap(({ head, metrics, cases }) => {
    y += 6;
    const parts = [text(0, y, head, 'strong')];
    y += 19;
    for (const [load, bench, title, peer, name] of cases) {
      parts.push(text(8, y, load));
      y += 16;
      const figures = metrics.map((metric) => figureOf([bench, title, metric, peer]));
      const arms = [
        ...(name === null ? [] : [[name, figures.map(({ theirs }) => theirs), 'other']]),
        ['Millrace', figures.map(({ ours }) => ours), 'good'],
      ];
      for (const [arm, values, kind] of arms) {
        const [low, high] = [values[0], values.at(-1)];
        parts.push(
          text(left - 12, y, arm, 'quiet', 'end'),
          line(x(low), y - 4, x(high), y - 4, kind, 3),
          dot(x(high), y - 4, kind),
          text(width, y, `${number(high)} ms`, '', 'end'),
        );
        if (values.length > 1) parts.push(dot(x(low), y - 4, `${kind} open`));
        y += 16;
      }
      y += 6;
    }
    return parts;
  });
  const axis = (at) => ticks.map(([tick, name]) => text(x(tick), at, name, 'quiet', 'middle'));
  return svg({
    title: 'Latency by offered load',
    description:
      'Latencies on a logarithmic axis, without Millrace and with it, at loads from a third of what a server can take to ten times that. Beyond the capacity, the latency without Millrace is seconds, with it milliseconds.',
    height: y + 12,
    body: [
      text(0, 34, 'hollow: p50; filled: p99, which is the figure on the right', 'quiet'),
      ...axis(52),
      ...ticks.map(([tick]) => line(x(tick), 57, x(tick), y - 8, 'grid')),
      ...rows,
      ...axis(y + 6),
    ],
  });
}

/** Returns the quartiles around the middle half of the values. */
const half = (values) =>
  [0.25, 0.75].map((share) =>
    quantile(
      values.toSorted((a, b) => a - b),
      share,
    ),
  );

const loops = ['goja_nodejs', 'batched', 'tick', 'safe', 'lockfree'];

/** Draws the Go tournament: nanoseconds per task when many are submitted, against those of submitting one and waiting. */
export function tournament() {
  const [left, right, top, bottom] = [52, 424, 48, 292];
  const x = logarithmic([200, 50_000], left, right);
  const y = linear([0, 140], bottom, top);
  const of = (title, peer) => figureOf(['go', title, 'ns_per_op', peer]);
  const spread = (title, peer, side) => of(title, peer).rounds.map((pair) => pair[side]);
  const entrant = (name, peer, side) => {
    const key = side === 0 ? 'ours' : 'theirs';
    const [latencies, costs] = ['PingPongLatency', 'PingPong'].map((title) => ({
      middle: of(title, peer)[key],
      all: spread(title, peer, side),
    }));
    return { name, latencies, costs, kind: side === 0 ? 'good' : 'other' };
  };
  const entrants = [
    entrant('millrace', loops[0], 0),
    ...loops.map((name) => entrant(name, name, 1)),
  ].sort((a, b) => b.costs.middle - a.costs.middle);
  let last = Number.NEGATIVE_INFINITY;
  const marks = entrants.flatMap(({ name, latencies, costs, kind }) => {
    const [cx, cy] = [x(latencies.middle), y(costs.middle)];
    const isRight = cx > (left + right) / 2;
    // Names of neighbours are at least a line apart.
    const labelY = isRight ? Math.max(cy + 4, last + 13) : cy - 8;
    if (isRight) last = labelY;
    const [across, along] = [half(latencies.all).map(x), half(costs.all).map(y)];
    return [
      line(across[0], cy, across[1], cy, kind),
      line(cx, along[0], cx, along[1], kind),
      dot(cx, cy, kind, 5),
      text(
        isRight ? cx - 22 : cx + 9,
        labelY,
        name,
        name === 'millrace' ? 'strong' : '',
        isRight ? 'end' : 'start',
      ),
    ];
  });
  const across = [
    [200, '200 ns'],
    [1000, '1 µs'],
    [10_000, '10 µs'],
    [50_000, '50 µs'],
  ];
  const up = [0, 20, 40, 60, 80, 100, 120, 140];
  return svg({
    title: 'Event loops for Go: both costs of a task',
    description:
      'A scatter plot. Down is cheaper in bulk, left is faster to answer. The four loops that poll are at the right, the channel of goja_nodejs at the left, and millrace is the lowest and the leftmost.',
    height: 336,
    body: [
      text(0, 36, 'ns per task of one producer; lines span the middle half of the rounds', 'quiet'),
      ...across.map(([tick]) => line(x(tick), top, x(tick), bottom, 'grid')),
      ...up.map((tick) => line(left, y(tick), right, y(tick), 'grid')),
      ...across.map(([tick, name]) => text(x(tick), bottom + 17, name, 'quiet', 'middle')),
      ...up.map((tick) => text(left - 8, y(tick) + 4, `${tick}`, 'quiet', 'end')),
      ...marks,
      text((left + right) / 2, bottom + 36, 'submit one task and wait for it', 'quiet', 'middle'),
    ],
  });
}

/** Draws the growth of memory in the soak, read from its page, the only record of a run. */
export function growth() {
  const page = readFileSync(new URL('../benchmarks/soak.md', import.meta.url), 'utf8');
  const cell =
    /^\| (primary|process \d+) \| ([^|]+) \| ([\d.]+ MiB) \| ([\d.]+ MiB) \| ([+−][\d.]+) % \(([+−][\d.]+) to ([+−][\d.]+)\) \|/gm;
  const value = (words) => Number(words.replace('−', '-'));
  const rows = [...page.matchAll(cell)].map(([, who, what, start, end, ...of]) => {
    const [slope, lo, hi] = of.map(value);
    return { label: `${who}: ${what}`, sizes: `${start} to ${end}`, slope, lo, hi };
  });
  const [left, right] = [150, 424];
  const x = linear([-1, 2], left, right);
  const ticks = [-1, 0, 1, 2];
  const name = (tick) => `${tick < 0 ? '−' : ''}${Math.abs(tick)} %`;
  let y = 66;
  const marks = rows.flatMap(({ label, sizes, slope, lo, hi }) => {
    const kind = lo > 1 ? 'bad' : 'good';
    const parts = [
      text(0, y, label, 'strong'),
      text(8, y + 16, sizes, 'quiet'),
      line(x(lo), y + 12, x(hi), y + 12, kind, 2),
      dot(x(slope), y + 12, kind),
    ];
    y += 38;
    return parts;
  });
  return svg({
    title: 'Memory at rest over the soak: growth an hour',
    description:
      'One line per process and kind of memory: the growth an hour and its interval, beside the limit of one per cent. The table has the same figures as text.',
    height: y + 12,
    body: [
      text(0, 36, 'dotted: the limit', 'quiet'),
      ...ticks.map((tick) => text(x(tick), 52, name(tick), 'quiet', 'middle')),
      ...ticks.map((tick) => line(x(tick), 57, x(tick), y - 14, tick === 1 ? 'limit' : 'grid')),
      ...marks,
      ...ticks.map((tick) => text(x(tick), y + 2, name(tick), 'quiet', 'middle')),
    ],
  });
}
