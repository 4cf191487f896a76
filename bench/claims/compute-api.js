import { latencyMs, longestMs, percentileMs } from '@millrace/lab/metrics';
import { control, cpuSecondsOf, fibonacci, health, treatment, warmup } from './compute/service.js';

export { control, treatment };

export const question =
  'How long does an API call take, at up to 4,000 a second, while F(N) is computed?';

export const about =
  'Calls of /health at an even rate for a second, whatever the answers, while a computation by n additions is ' +
  'under way. The paper names 4,000 a second as the load of its API column, not how it was made, nor whether it ' +
  'was kept up; where a rate is too much for the service, its latencies are those of a queue.';

const N = 300_000;

export const load = {
  kind: 'requests',
  pin: false,
  warmup,
  takes: () => 1 + cpuSecondsOf({ fibonacci: N }),
  requests: ({ rate }) => [fibonacci(N), health({ at: 20, rate, seconds: 1 })],
};

export const cases = [100, 400, 4000].map((rate) => ({
  label: `${rate.toLocaleString('en-US')}/s`,
  rate,
  from: rate < 4000 ? 'quick' : 'paper',
}));

const ms = { unit: 'ms', better: 'lower' };

export const metrics = [
  { ...ms, name: 'health_ms', title: '/health, median', of: latencyMs('health') },
  { ...ms, name: 'health_p99_ms', title: '/health, p99', of: percentileMs('health', 0.99) },
  { ...ms, name: 'health_longest_ms', title: '/health, longest', of: longestMs('health') },
  {
    ...ms,
    name: 'fibonacci_ms',
    title: `F(${N.toLocaleString('en-US')})`,
    of: latencyMs('fibonacci'),
  },
];

export const rounds = { paper: 6 };
