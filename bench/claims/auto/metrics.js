/** The figures of an application with auto and without, of which the first is the question. */
import { cpuUsPer, latency, rssMb, syscallsPer, utilization, value } from '@millrace/lab/metrics';

const lower = (name, title, unit, of) => ({ name, title, unit, better: 'lower', of });

/**
 * The first is what is asked for, the others of which less is better are corrected for how many there are; what is left has
 * no `better`, so that few rounds can show something.
 *
 * @param {string} thing what an answer is called: `request`, `message`
 */
export const applicationMetrics = (thing) => [
  lower('cpu_us', `CPU per ${thing}`, 'µs', cpuUsPer()),
  lower('syscalls', `system calls per ${thing}`, '', syscallsPer()),
  lower('rss_mb', 'memory at the end', 'MB', rssMb),
  {
    name: 'answers_per_s',
    title: `${thing.replace(/y$/, 'ie')}s`,
    unit: '1/s',
    of: value('answers_per_s'),
  },
  { name: 'utilization', title: 'loop utilization', unit: '', of: utilization },
];

/** Latencies of a load that says when each answer was due. */
export const latencies = [
  { name: 'p50_ms', title: 'latency, median', unit: 'ms', of: latency('p50') },
  { name: 'p99_ms', title: 'latency, p99', unit: 'ms', of: latency('p99') },
];
