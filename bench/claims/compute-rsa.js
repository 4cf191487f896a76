import { coresDuring, latencyMs } from '@millrace/lab/metrics';
import { RSA, SCALABILITY, SOURCE } from './compute/paper.js';
import {
  control,
  cpuSecondsOf,
  health,
  photos,
  rsa,
  treatment,
  warmup,
} from './compute/service.js';

export { control, treatment };

export const question = 'Is the RSA task computed faster on threads, and on how many cores?';

export const about =
  'F(N) to the power of 65,537 modulo another Fibonacci number, divided by the two factors of the modulus, in the ' +
  'same way in both arms; numbers by the paper’s additions. Beside it five calls of another service and ten of ' +
  '/health. The paper has no single-threaded figures of it, and its 8 cores were counted on a machine of 4. Its column of ' +
  'records is in compute-all: here they would take cores from the pool, but not from the main thread, where they wait.';

export const claim = {
  text: 'Scalability 35 % better on average',
  source: `${SOURCE}, abstract`,
  metric: 'rsa_ms',
  cases: ['100,000', '1,000,000', '2,000,000', '3,000,000'],
  atLeast: SCALABILITY,
  says: { met: 'This task can be divided, into two parts: that is what threads make faster.' },
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: ({ n }) => cpuSecondsOf({ rsa: n }),
  requests: ({ n }) => [
    rsa(n),
    photos({ at: 20, rate: 20, seconds: 0.25 }),
    health({ at: 30, rate: 20, seconds: 0.5 }),
  ],
  timeoutS: 1800,
};

/** The most rounds of N: the larger ones take minutes. */
const ROUNDS = { 10: 3, 100: 3, 1000: 3, 10000: 3, 100000: 10, 1000000: 3, 2000000: 1, 3000000: 1 };

export const cases = [10, 100, 1000, 10_000, 100_000, 1_000_000, 2_000_000, 3_000_000].map((n) => ({
  label: n.toLocaleString('en-US'),
  n,
  from: n === 100_000 ? 'quick' : 'paper',
  rounds: ROUNDS[n],
  paper: RSA[n],
}));

const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  { ...ms, name: 'rsa_ms', title: 'the RSA task', of: latencyMs('rsa') },
  { name: 'rsa_cores', title: 'cores in use meanwhile', unit: '', of: coresDuring('rsa') },
  { ...ms, name: 'photos_ms', title: 'a call of another service, median', of: latencyMs('photos') },
  { ...ms, name: 'health_ms', title: '/health, median', of: latencyMs('health') },
];

export const rounds = { quick: 6, paper: 50 };
