import { coresDuring, latencyMs, longestMs } from '@millrace/lab/metrics';
import { BLOCKED, FIBONACCI, SOURCE } from './compute/paper.js';
import { control, cpuSecondsOf, fibonacci, health, treatment, warmup } from './compute/service.js';

export { control, treatment };

const { health_ms } = FIBONACCI[1_000_000].treatment;

export const question = 'Does /health answer while a large Fibonacci number is computed?';

export const about =
  'One computation by the paper’s n additions; ten health checks in the half second before it, and ten in ' +
  'the half second after its start. The paper’s column is of another machine.';

export const claim = {
  text: 'CPU-bound tasks do not block other operations: 10.2 s behind a computation on the main thread, 436 ms beside one on threads',
  source: `${SOURCE}, section 8.2 and figure 5`,
  metric: 'health_ms',
  atLeast: BLOCKED.health_ms / health_ms,
  says: { met: 'The pool keeps the server answering.' },
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: ({ n }) => 0.6 + cpuSecondsOf({ fibonacci: n }),
  requests: ({ n }) => [
    health({ name: 'idle', rate: 20, seconds: 0.5 }),
    fibonacci(n, { at: 600 }),
    health({ at: 620, rate: 20, seconds: 0.5 }),
  ],
};

export const cases = [
  { label: 'N = 300,000', n: 300_000 },
  {
    label: 'N = 1,000,000',
    n: 1_000_000,
    from: 'paper',
    paper: { control: BLOCKED, treatment: { health_ms } },
  },
];

const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  { ...ms, name: 'idle_ms', title: '/health before, median', of: latencyMs('idle') },
  { ...ms, name: 'health_ms', title: '/health meanwhile, median', of: latencyMs('health') },
  {
    ...ms,
    name: 'health_longest_ms',
    title: '/health meanwhile, longest',
    of: longestMs('health'),
  },
  { ...ms, name: 'fibonacci_ms', title: 'the computation', of: latencyMs('fibonacci') },
  {
    name: 'fibonacci_cores',
    title: 'cores in use meanwhile',
    unit: '',
    of: coresDuring('fibonacci'),
  },
];

export const rounds = { quick: 6, paper: 50 };
