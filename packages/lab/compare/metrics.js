/** The metrics of a comparison. */
import {
  cpuUsPer,
  latency,
  loopDelayP99Ms,
  peakRssMb,
  switchesPer,
  utilization,
  value,
} from '../experiment/metrics.js';

const lower = (name, title, unit, of) => ({ name, title, unit, better: 'lower', of });

const latencies = [
  lower('p50_ms', 'latency, p50', 'ms', latency('p50')),
  lower('p99_ms', 'latency, p99', 'ms', latency('p99')),
];

/** A slow server in a closed loop gets fewer requests, so its latency says nothing of the same load. */
const shownLatencies = latencies.map(({ better, ...metric }) => metric);

/**
 * The first metric decides: at a given rate the CPU per response, otherwise the throughput.
 *
 * @param {{ isOpen: boolean, isMessages: boolean }} load `isOpen`: its rate is given, so that throughput says nothing about the server;
 *   `isMessages`: of a WebSocket server
 * @returns {import('../experiment/format.js').Metric[]} the most important first
 */
export function metricsOf({ isOpen, isMessages }) {
  const [one, many] = isMessages ? ['message', 'messages/s'] : ['request', 'requests/s'];
  const cpu = lower('cpu_us_per_answer', `CPU per ${one}`, 'µs', cpuUsPer());
  const throughput = {
    ...{ name: 'answers_per_s', title: 'throughput', unit: many },
    of: value('answers_per_s'),
  };
  const others = [
    lower('loop_p99_ms', 'loop delay, p99', 'ms', loopDelayP99Ms),
    { name: 'utilization', title: 'loop utilization', unit: '', of: utilization },
    lower('peak_rss_mb', 'peak memory', 'MB', peakRssMb),
    lower('switches_per_answer', `context switches per ${one}`, '', switchesPer()),
  ];
  return isOpen
    ? [cpu, ...latencies, throughput, ...others]
    : [{ ...throughput, better: 'higher' }, cpu, ...shownLatencies, ...others];
}
