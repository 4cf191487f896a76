import { runLoad } from '../../load/index.js';
import * as key from './keys.js';

/** Options of the generator. ../../load/README.md describes them, and the generator itself checks them. */
const OPTIONS = [
  ...[
    'protocol',
    'event',
    'reply',
    'data',
    'to',
    'mode',
    'path',
    'connections',
    'rooms',
    'senders',
    'slowReaders',
    'payload',
  ],
  ...['inflight', 'rate', 'deliveriesRate', 'pattern', 'users', 'spacing', 'drain', 'noAcks'],
  ...['checkEvery', 'connectConcurrency', 'connectTimeout', 'seed'],
];

/**
 * The project's WebSocket generator, in a closed or open loop. `mayLose`: what is lost, refused or closed is
 * counted in `values`, and no fault.
 */
const keys = {
  ...Object.fromEntries(OPTIONS.map((name) => [`${name}?`, key.scalar])),
  'seconds?': key.number(0.1, 86_400),
  'warmup?': key.number(0, 3600),
  'mayLose?': key.flag,
};

export const form = key.formOf(keys);

const SECONDS = 10;
const WARMUP_S = 2;

/** The generator counts deliveries in quarters of a second. */
const QUARTER_S = 0.25;

/** Share of a core from which on the generator, which has one thread, is the limit. */
const SATURATED = 0.9;

/** p99 of how late it took up messages, and its share of the p99 of their latency, from which on it spoils that. */
const LATE_MS = 5;
const LATE_SHARE = 0.1;

/** @type {import('./index.js').loads['ws']['drive']} */
export async function drive({ url, load, params, signal, phase, begin, end }) {
  if (phase === 'warmup') return null;
  const { mayLose, ...options } = key.settle(keys, load, params);
  const { seconds = SECONDS, seed = params.seed } = options;
  const warmup = options.pattern === 'sustained' ? 0 : (options.warmup ?? WARMUP_S);
  const { hostname, port, pathname } = new URL(url);
  const marks = { begin, end };
  try {
    const report = await runLoad(
      {
        host: hostname,
        port: Number(port || 80),
        ...(pathname !== '/' && { path: pathname }),
        ...options,
        ...{ seconds, warmup, seed },
      },
      { signal, onMark: (mark) => marks[mark]?.() },
    );
    return outcome(report, mayLose);
  } catch (error) {
    // A server that has fallen is a result where it may.
    if (!mayLose || error.code !== 'MILLRACE_LAB_E_CONNECT') throw error;
    return nothing();
  }
}

function outcome(report, mayLose = false) {
  const { config, latency_echo: echo } = report;
  // What it took up late it has sent, and the server has worked for it: all counts but the time that it took.
  const late = latenessOf(report);
  const latency = late === null && report.latency.n > 0 ? report.latency : null;
  const isClosed = config.mode === 'closed';
  const numbers = Object.entries(report).filter(([, value]) => typeof value === 'number');
  return {
    isClosed,
    work: [
      {
        name: 'messages',
        answers: isClosed ? report.delivered : report.scheduled,
        status: counts(report, ['delivered', 'lost', 'refused', 'unsent']),
        // The generator itself checks length and letters of each.
        bytes: config.payload,
        payload: `${config.payload} bytes, checked`,
        ...(mayLose && { mayFail: true }),
      },
    ],
    values: {
      ...Object.fromEntries(numbers),
      answers: Math.round(report.msgs_per_s * report.measured_s),
      answers_per_s: report.msgs_per_s,
      echo_p50_ms: echo.n > 0 ? echo.p50 : null,
      echo_p99_ms: echo.n > 0 ? echo.p99 : null,
      late_p99_ms: report.late.n > 0 ? report.late.p99 : null,
    },
    latency,
    percentiles: latency && points(latency),
    series: {
      msgs_per_s: report.per_quarter.map((count, i) => [(i + 1) * QUARTER_S, count / QUARTER_S]),
    },
    late,
    saturated:
      report.cpu_share > SATURATED
        ? `the load generator was the limit: ${report.saturated_why}`
        : null,
    faults: faultsOf(report, mayLose),
  };
}

/** Reason why latencies do not count: the generator itself is a part of them. */
function latenessOf({ late, latency }) {
  const isLate = late.n > 0 && late.p99 > LATE_MS && late.p99 > LATE_SHARE * latency.p99;
  return isLate ? 'the load generator was late, so that latencies do not count' : null;
}

function points({ n, p50, p90, p99, p999, max }) {
  const told = [
    [0.5, p50],
    [0.9, p90],
    [0.99, p99],
    [0.999, p999],
  ];
  return [...told.filter(([share]) => (1 - share) * n >= 1), [1, max]];
}

const counts = (report, names) =>
  Object.fromEntries(names.filter((name) => report[name] > 0).map((name) => [name, report[name]]));

const WRONG = ['duplicated', 'reordered', 'corrupt'];
const MISSING = ['lost', 'refused', 'unsent', 'closed_early'];

function faultsOf(report, mayLose) {
  const names = [...WRONG, ...(mayLose ? [] : MISSING)];
  const found = names.filter((name) => report[name] > 0);
  if (found.length > 0) {
    const said = found.map((name) => `${report[name]} ${name.replace('_', ' ')}`).join(', ');
    const first = report.first_fault ?? report.first_error;
    const none = report.delivered === 0 ? hint(report) : '';
    return [`deliveries: ${said}${first === undefined ? '' : `; first: ${first}`}${none}`];
  }
  return report.delivered === 0 && !mayLose ? [`no message was delivered${hint(report)}`] : [];
}

/** A server of socket.io passes over in silence what it has no listener for. */
function hint({ config: { protocol, event, reply } }) {
  if (protocol !== 'socket.io') return '';
  return `; the server does not seem to take the event "${event}" and send "${reply}" on: --event and --reply name others`;
}

/** The outcome where no connection could be opened. */
function nothing() {
  const names = ['answers', 'answers_per_s', 'msgs_per_s', 'sends_per_s', 'sent', 'expected'];
  const zeros = [...names, 'delivered', ...WRONG, ...MISSING, 'errors', 'measured_s'];
  return {
    isClosed: false,
    work: [{ name: 'messages', answers: 0, status: {}, bytes: 0, payload: null, mayFail: true }],
    values: Object.fromEntries(zeros.map((name) => [name, 0])),
    ...{ latency: null, percentiles: null, series: {}, saturated: null, faults: [] },
  };
}
