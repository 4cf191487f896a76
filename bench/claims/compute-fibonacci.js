import { coresDuring, latencyMs } from '@millrace/lab/metrics';
import { FIBONACCI, SCALABILITY, SOURCE } from './compute/paper.js';
import {
  control,
  cpuSecondsOf,
  fibonacci,
  health,
  photos,
  treatment,
  warmup,
} from './compute/service.js';

export { control, treatment };

export const question = 'Is F(N) computed faster on threads, and what do other requests notice?';

export const about =
  'By the paper’s n additions; beside it five calls of another service (photos) and ten of /health, which begin ' +
  '20 ms after it. The paper’s columns are of another machine; its single-threaded columns of other requests do ' +
  'not show the blocking that its own section 8.2 tells of.';

const WHY =
  'Threads keep the server answering, they do not make one serial computation faster; fast doubling does ' +
  '(compute-algorithm).';

export const claim = {
  text: 'On several threads the calculation was faster as the load increased; scalability 35 % better on average',
  source: `${SOURCE}, section 8.3 and abstract`,
  metric: 'fibonacci_ms',
  cases: ['100,000', '1,000,000', '2,000,000'],
  atLeast: SCALABILITY,
  says: { refuted: `No gain here. ${WHY}`, 'not met': WHY, open: WHY },
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: ({ n }) => cpuSecondsOf({ fibonacci: n }),
  requests: ({ n }) => [
    fibonacci(n),
    photos({ at: 20, rate: 20, seconds: 0.25 }),
    health({ at: 30, rate: 20, seconds: 0.5 }),
  ],
};

/** A claim speaks of these; the largest of them takes a minute. */
const FROM = { 100000: 'quick', 1000000: 'medium' };

/** The most rounds of N: the larger ones take minutes. */
const ROUNDS = { 10: 3, 100: 3, 1000: 3, 10000: 3, 100000: 10, 1000000: 6, 2000000: 1 };

export const cases = [10, 100, 1000, 10_000, 100_000, 1_000_000, 2_000_000].map((n) => ({
  label: n.toLocaleString('en-US'),
  n,
  from: FROM[n] ?? 'paper',
  rounds: ROUNDS[n],
  paper: FIBONACCI[n],
}));

const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  { ...ms, name: 'fibonacci_ms', title: 'F(N)', of: latencyMs('fibonacci') },
  {
    name: 'fibonacci_cores',
    title: 'cores in use meanwhile',
    unit: '',
    of: coresDuring('fibonacci'),
  },
  { ...ms, name: 'photos_ms', title: 'a call of another service, median', of: latencyMs('photos') },
  { ...ms, name: 'health_ms', title: '/health, median', of: latencyMs('health') },
];

export const rounds = { quick: 6, paper: 50 };
