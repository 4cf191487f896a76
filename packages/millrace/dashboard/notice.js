/** State of the page: live or not, and the reason for an empty page. */
import { find, setText } from './dom.js';
import { time } from './format.js';
import { once } from './lines.js';

const words = { live: 'Live', paused: 'Paused', lost: 'Connection lost' };

/**
 * @param {import('./view.js').View} view
 * @returns {() => void} updates the display
 */
export function startNotice(view) {
  const [notice, status] = ['#notice', '#status'].map(find);
  return () => {
    const { connection, pausedAt, store } = view;
    if (connection === null) return;
    const isLost = connection === 'lost';
    const state = !isLost && pausedAt !== null ? 'paused' : connection;
    document.body.dataset.state = state;
    setText(status, words[state]);
    const text = isLost ? lost(store.latest) : store.latest === 0 ? waiting : idle(view);
    notice.hidden = text === '';
    setText(notice, text);
    const main = [...store.processes.values()].find(({ info }) => info.role === 'main');
    document.title = main === undefined ? 'Millrace' : `${main.info.title} · Millrace`;
  };
}

const waiting = 'Waiting for the first sample: there is one a second.';

function lost(latest) {
  if (latest === 0) return 'Connection lost; retrying…';
  return `Connection lost. Showing data up to ${time(latest)}; retrying…`;
}

/** Seconds without work after which an application counts as idle. */
const idleSeconds = 10;
/** Cores in use, below which a process does no work of its own. Loop utilization would be too high on a busy machine. */
const idleCores = 0.05;
/** Samples before a verdict: totals have no rate before the second, and a new page has no history. */
const leastSamples = 3;
const works = [
  ...['http_response_ms_count', 'batch_size_count', 'fanout_messages_total'],
  ...['file_reads_total', 'file_appends_total', 'pool_run_ms_count'],
];

/** Returns a sentence for an idle application, or nothing for a busy one. */
function idle(view) {
  const span = view.last(idleSeconds);
  const cores = ['user', 'system'].map((kind) =>
    mean(span.rate(`process_cpu_${kind}_seconds_total`, once)),
  );
  if (cores.includes(null) || cores[0] + cores[1] > idleCores) return '';
  if (works.some((name) => span.rate(name).some((value) => value > 0))) return '';
  return 'The application is idle. Send some traffic to it: charts appear as it works.';
}

/** Returns null if there are too few values. */
function mean(values) {
  const known = values.filter((value) => value !== null);
  return known.length < leastSamples
    ? null
    : known.reduce((sum, each) => sum + each, 0) / known.length;
}
