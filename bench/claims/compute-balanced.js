import { fileURLToPath } from 'node:url';
import { cores, failures, latencyMs, longestMs, percentileMs, wallS } from '@millrace/lab/metrics';
import { SCALABILITY, SOURCE } from './compute/paper.js';
import { CORES, fibonacci, health, control as main, treatment, warmup } from './compute/service.js';

export { treatment };

const BALANCED = fileURLToPath(new URL('./compute/balanced.js', import.meta.url));

export const question =
  'How do tasks scale on threads of one process, against Node’s own load balancing?';

export const about =
  'The usual way to use all cores is a process for each, to which node:cluster hands connections round robin; tasks run on their main ' +
  'threads. The pool has as many threads in one process. Six computations at once say how long until all are done: both use all cores. A ' +
  'stream of computations at a little more than half of what the cores can do says what a task and a health check wait for: a process that computes ' +
  'answers nothing else, and a long task holds up the short ones that were handed to its process.';

/** Control with one process per core, on one port. */
export const control = {
  ...main,
  name: 'node:cluster',
  command: [process.execPath, BALANCED, `${CORES}`, '--blocking-n', '3000000'],
};

export const claim = {
  text: 'Scalability 35 % better on average than with the default',
  source: `${SOURCE}, abstract, which does not name the default`,
  metric: 'all_s',
  cases: ['six F(100,000) at once'],
  atLeast: SCALABILITY,
  says: {
    refuted:
      'Processes use all cores as well as threads do: what threads save is the wait of other requests.',
    'not met': 'Processes use all cores, too.',
    open: 'Processes use all cores, too.',
  },
};

/** F(50,000) by additions takes some 20 ms of a core. */
const SHORT = 50_000;
const LONG = 300_000;
const RATE = 28 * CORES;

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  requests: ({ label }) =>
    label === 'six F(100,000) at once'
      ? [
          ...Array.from({ length: 6 }, () => fibonacci(100_000)),
          health({ at: 30, rate: 20, seconds: 0.25 }),
        ]
      : [
          fibonacci(SHORT, { rate: RATE, seconds: 3, mayFail: true }),
          ...(label.endsWith('a long one') ? [fibonacci(LONG, { name: 'long', at: 500 })] : []),
          health({ at: 30, rate: 20, seconds: 3 }),
        ],
};

export const cases = [
  { label: 'six F(100,000) at once' },
  { label: 'a stream of F(50,000)' },
  { label: 'a stream of F(50,000), and a long one', from: 'medium' },
];

const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  { name: 'all_s', title: 'until all is done', unit: 's', better: 'lower', of: wallS },
  { ...ms, name: 'fibonacci_ms', title: 'F(N), median', of: latencyMs('fibonacci') },
  { ...ms, name: 'fibonacci_p99_ms', title: 'F(N), p99', of: percentileMs('fibonacci', 0.99) },
  {
    name: 'refused',
    title: 'computations refused, as too many waited',
    unit: '',
    better: 'lower',
    of: failures('fibonacci'),
  },
  { ...ms, name: 'health_ms', title: '/health, median', of: latencyMs('health') },
  { ...ms, name: 'health_longest_ms', title: '/health, longest', of: longestMs('health') },
  { name: 'cores', title: 'cores in use', unit: '', of: cores },
];

export const rounds = { medium: 8, paper: 8 };
