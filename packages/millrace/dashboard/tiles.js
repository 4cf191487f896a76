/** Tiles: the figures at the top. */
import { element, find, setText } from './dom.js';
import { format } from './format.js';
import { once } from './lines.js';

/** Latest values. `optional` ones are hidden until they are not 0. */
const tiles = [
  {
    title: 'Requests',
    optional: true,
    unit: 'perSecond',
    values: (span) => span.rate('http_response_ms_count'),
  },
  {
    title: 'Response, p50',
    optional: true,
    unit: 'ms',
    values: (span) => span.level('http_response_ms', { where: { quantile: '0.5' }, across: 'max' }),
  },
  {
    title: 'Response, p99',
    optional: true,
    unit: 'ms',
    values: (span) =>
      span.level('http_response_ms', { where: { quantile: '0.99' }, across: 'max' }),
  },
  {
    title: 'Loop delay, p99',
    unit: 'ms',
    values: (span) => span.level('loop_delay_ms', { where: { quantile: '0.99' }, across: 'max' }),
  },
  {
    title: 'Utilization',
    unit: 'share',
    values: (span) => span.level('loop_utilization', { across: 'max' }),
  },
  {
    title: 'CPU',
    unit: 'share',
    values: (span) => {
      const user = span.rate('process_cpu_user_seconds_total', once);
      const system = span.rate('process_cpu_system_seconds_total', once);
      return user.map((value, n) => (value === null ? null : value + system[n]));
    },
  },
  {
    title: 'Memory',
    unit: 'bytes',
    values: (span) => span.level('process_resident_memory_bytes', once),
  },
  {
    title: 'Fan-out frames',
    optional: true,
    unit: 'perSecond',
    values: (span) => span.rate('fanout_messages_total'),
  },
  { title: 'Shed', optional: true, unit: 'perSecond', values: (span) => span.rate('shed_total') },
];

/** @param {import('./view.js').View} view */
export function startTiles(view) {
  const shown = tiles.map((tile) => {
    const value = element('b');
    const item = element('li', { hidden: true }, element('span', {}, tile.title), value);
    return { ...tile, item, value };
  });
  find('#tiles').replaceChildren(...shown.map(({ item }) => item));
  const seen = new Set();
  return () => {
    const { now } = view;
    for (const { title, item, value, unit, optional, values } of shown) {
      const latest = values(now).findLast((each) => each !== null);
      if (latest) seen.add(title);
      item.hidden = optional ? !seen.has(title) : latest === undefined;
      setText(value, format(latest, unit));
    }
  };
}
