import { isNumber } from './numbers.js';
import { capital } from './text.js';

/** Series of the sampled costs and of the probe, and their form. */
const KNOWN = {
  cpu: { title: 'CPU', unit: 'cores' },
  msgs_per_s: { title: 'Messages', unit: '1/s' },
  utilization: { title: 'Event loop in use', unit: 'share' },
  rss_bytes: { title: 'Memory, resident', unit: 'MB', per: 1e6 },
};

/** Steady counts say nothing as a line. */
const LEFT_OUT = new Set(['threads', 'descriptors']);

const UNITS = {
  s: 's',
  ms: 'ms',
  us: 'µs',
  ns: 'ns',
  bytes: 'MB',
  mb: 'MB',
  share: '',
  cores: 'cores',
};

/**
 * The time series of a run: what the load counted, CPU, memory, and what the probe saw.
 *
 * @param {object} run
 * @returns {{ title: string, unit: string, points: [number, number][] }[]}
 */
export function seriesOf({ series, costs, probe }) {
  const all = { ...series, ...costs?.series, ...probe?.series };
  return Object.entries(all)
    .filter(([name, points]) => !LEFT_OUT.has(name) && Array.isArray(points))
    .map(([name, points]) => ({ ...titled(name), points: points.filter(isPoint) }))
    .filter(({ points }) => points.length > 1)
    .map(({ title, unit, per = 1, points }) => ({
      ...{ title, unit },
      points: points.map(([seconds, value]) => [seconds, value / per]),
    }));
}

const isPoint = (point) => Array.isArray(point) && isNumber(point[0]) && isNumber(point[1]);

/** `msgs_per_s` is `Msgs` in 1/s; `loop_delay_ms` and `loopDelayMs` are `Loop delay` in ms. */
function titled(name) {
  if (Object.hasOwn(KNOWN, name)) return KNOWN[name];
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
  const last = words.at(-1);
  if (words.length > 2 && words.at(-2) === 'per' && last === 's') {
    return { title: capital(words.slice(0, -2).join(' ')), unit: '1/s' };
  }
  const title = (list) => capital(list.join(' '));
  if (words.length === 1 || !Object.hasOwn(UNITS, last)) return { title: title(words), unit: '' };
  return {
    title: title(words.slice(0, -1)),
    unit: UNITS[last],
    ...(last === 'bytes' && { per: 1e6 }),
  };
}
