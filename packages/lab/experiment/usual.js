/** The metrics of an experiment that has none of its own. */
import {
  cpuUsPer,
  latency,
  loopDelayP99Ms,
  peakRssMb,
  switchesPer,
  utilization,
  value,
} from './metrics.js';

const lower = (name, title, unit, of) => ({ name, title, unit, better: 'lower', of });

const cpu = lower('cpu_us_per_answer', 'CPU time of an answer', 'µs', cpuUsPer());

const latencies = [
  lower('p50_ms', 'latency, median', 'ms', latency('p50')),
  lower('p99_ms', 'latency, 99th percentile', 'ms', latency('p99')),
];

/** How long a server takes that is asked less often when it is slow says nothing of how long it would take otherwise. */
const shownLatencies = latencies.map(({ better, ...metric }) => metric);

const answers = {
  name: 'answers_per_s',
  title: 'answers',
  unit: '1/s',
  of: value('answers_per_s'),
};

const others = [
  lower('loop_p99_ms', 'event loop delay, 99th percentile', 'ms', loopDelayP99Ms),
  { name: 'utilization', title: 'event loop in use', unit: '', of: utilization },
  lower('peak_rss_mb', 'memory, most', 'MB', peakRssMb),
  lower('switches_per_answer', 'context switches of an answer', '', switchesPer()),
];

/**
 * The first one is what the experiment is about: at a given rate what an answer costs, otherwise how many there are.
 *
 * @param {boolean} isOpen whether the load's rate is given: then the number of answers says nothing about the server
 * @returns {import('./format.js').Metric[]} what matters most first
 */
export const usualMetrics = (isOpen) =>
  isOpen
    ? [cpu, ...latencies, answers, ...others]
    : [{ ...answers, better: 'higher' }, cpu, ...shownLatencies, ...others];
