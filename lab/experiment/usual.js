/** The metrics of an experiment that has none of its own. */
import { peakRssMb } from './metrics.js';

const perAnswer = (of) => (run) => {
  const { answers } = run.values;
  const value = of(run);
  return answers > 0 && Number.isFinite(value) ? value / answers : null;
};

const lower = (name, title, unit, of) => ({ name, title, unit, better: 'lower', of });

const cpu = lower(
  'cpu_us_per_answer',
  'CPU time of an answer',
  'µs',
  perAnswer(({ costs }) => costs.cpuS * 1e6),
);

const latency = [
  lower('p50_ms', 'latency, median', 'ms', (run) => run.latency?.p50 ?? null),
  lower('p99_ms', 'latency, 99th percentile', 'ms', (run) => run.latency?.p99 ?? null),
];

/** How long a server takes that is asked less often when it is slow says nothing of how long it would take otherwise. */
const shownLatency = latency.map(({ better, ...metric }) => metric);

const answers = {
  name: 'answers_per_s',
  title: 'answers',
  unit: '1/s',
  of: (run) => run.values.answers_per_s ?? null,
};

const others = [
  lower('loop_p99_ms', 'event loop delay, 99th percentile', 'ms', (run) => {
    return run.probe?.loopDelayMs?.p99 ?? null;
  }),
  {
    name: 'utilization',
    title: 'event loop in use',
    unit: '',
    of: (run) => run.probe?.utilization ?? null,
  },
  lower('peak_rss_mb', 'memory, most', 'MB', peakRssMb),
  lower(
    'switches_per_answer',
    'context switches of an answer',
    '',
    perAnswer(({ costs }) => costs.voluntarySwitches + costs.involuntarySwitches),
  ),
];

/**
 * The first one is what the experiment is about: at a given rate what an answer costs, else how many there are.
 *
 * @param {boolean} isOpen whether the load's rate is given: then the number of answers is no merit of the server
 * @returns {import('./format.js').Metric[]} what matters most first
 */
export const usualMetrics = (isOpen) =>
  isOpen
    ? [cpu, ...latency, answers, ...others]
    : [{ ...answers, better: 'higher' }, cpu, ...shownLatency, ...others];
