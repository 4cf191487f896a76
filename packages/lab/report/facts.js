/** Facts of a measurement, as pairs of texts, for HTML and Markdown. */
import { duration, isNumber, moment, NONE, quantity } from './numbers.js';

const HOST = {
  cpu: 'processor',
  cores: 'cores',
  memory_bytes: 'memory',
  kernel: 'system',
  arch: 'architecture',
  is_virtual: 'virtual machine',
  load_average: 'load average at the start',
  node: 'Node.js',
  v8: 'V8',
  libuv: 'libuv',
};

/**
 * Rounds, order, time and place.
 *
 * @param {object} results
 * @returns {[string, string][]}
 */
export function facts(results) {
  const { figures, date, seconds, seed, host, versions, load, pinned, size, runs } = results;
  const rounds = [...new Set(figures.map(({ n }) => n).filter(isNumber))].sort((a, b) => a - b);
  const others = othersCores(runs);
  return [
    ['date', moment(date)],
    ['duration', duration(seconds)],
    [
      'rounds of all arms',
      rounds.length === 0 ? NONE : `${rounds.join(', ')}${size === 'quick' ? ' (quick)' : ''}`,
    ],
    ['runs kept', quantity(runs.length)],
    ['order', `random, seed ${seed}`],
    ...(load ? [['load', loadText(load, pinned)]] : []),
    ...Object.entries(host ?? {}).map(([key, value]) => [HOST[key] ?? key, hostText(key, value)]),
    ...Object.entries(versions ?? {})
      // The host has it already.
      .filter(([name]) => name !== 'node' || host?.node === undefined)
      .map(([name, version]) => [name, text(version)]),
    ...(others === null ? [] : [['cores that other work took', others.toFixed(2)]]),
  ];
}

/** Load, once where it was the same in all cases. */
function loadText({ kind, cases }, pinned) {
  const keysOf = ({ case: _, ...keys }) =>
    Object.entries(keys)
      .map(([key, value]) => `${key} ${[value].flat().join(' ')}`)
      .join(', ');
  const isSame = new Set(cases.map(keysOf)).size <= 1;
  const told = isSame
    ? cases.slice(0, 1).map(keysOf)
    : cases.map((at) => `${at.case}: ${keysOf(at)}`);
  const cores = pinned ? 'on a core of its own' : 'on all cores';
  return [kind, ...told.filter((each) => each !== ''), cores].join('; ');
}

/** The arms, with the command of each and what it adds to the environment. */
export function armFacts({ arms }) {
  const texts = arms.map(({ command, env }) =>
    [
      ...Object.entries(env ?? {}).map(([key, value]) => `${key}=${quoted(String(value))}`),
      ...[command ?? []].flat().map((part) => quoted(String(part))),
    ].join(' '),
  );
  // The twin is the control, once more.
  return arms
    .map(({ role, name }, i) => ({ role, name, command: texts[i] }))
    .filter(({ role }) => role !== 'twin');
}

/** Cores of other programs, on average while the arms were measured; null when it is not known. */
function othersCores(runs) {
  const told = runs
    .map(({ costs }) => costs)
    .filter((costs) => isNumber(costs?.othersS) && costs.wallS > 0);
  if (told.length === 0) return null;
  const sum = (key) => told.reduce((total, costs) => total + costs[key], 0);
  return sum('othersS') / sum('wallS');
}

function hostText(key, value) {
  if (key === 'memory_bytes' && isNumber(value)) return `${(value / 2 ** 30).toFixed(1)} GiB`;
  if (key === 'load_average' && [value].flat().every(isNumber))
    return [value]
      .flat()
      .map((load) => load.toFixed(1))
      .join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null ? NONE : text(value);
}

const text = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** As a shell would take it. */
const quoted = (part) =>
  /^[\w@%+=:,./{}-]+$/.test(part) ? part : `'${part.replaceAll("'", "'\\''")}'`;
