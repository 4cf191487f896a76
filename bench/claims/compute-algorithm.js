import { cpuS, latencyMs } from '@millrace/lab/metrics';
import { cpuSecondsOf, fibonacci, treatment as pool, warmup } from './compute/service.js';

export const question = 'What is a better algorithm worth, where threads bring nothing?';

export const about =
  'F(N) on a thread of the pool in both arms: by n additions, as the paper does it, and by fast doubling, which ' +
  'needs about log2 N steps. Both write the number out in decimal, which doubling makes the longer part.';

const isOn = ({ answers }) => answers.some(({ json }) => json.algorithm === 'doubling');

export const control = {
  ...pool,
  name: 'n additions',
  isOn,
  routes: { '/f': '/fibonacci?algorithm=paper' },
};

export const treatment = {
  ...pool,
  name: 'fast doubling',
  isOn,
  routes: { '/f': '/fibonacci?algorithm=doubling' },
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: ({ n }) => cpuSecondsOf({ fibonacci: n }),
  requests: ({ n }) => [{ ...fibonacci(n), path: `/f?n=${n}` }],
};

export const cases = [1000, 10_000, 100_000, 1_000_000, 2_000_000].map((n) => ({
  label: n.toLocaleString('en-US'),
  n,
  from: n <= 100_000 ? 'quick' : 'paper',
}));

export const metrics = [
  { name: 'fibonacci_ms', title: 'F(N)', unit: 'ms', better: 'lower', of: latencyMs('fibonacci') },
  { name: 'cpu_s', title: 'CPU time', unit: 's', better: 'lower', of: cpuS },
];

export const rounds = { quick: 6, paper: 50 };
