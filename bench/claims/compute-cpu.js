import { cpuS, peakRssMb, wallS } from '@millrace/lab/metrics';
import {
  control,
  cpuSecondsOf,
  fibonacci,
  records,
  rsa,
  treatment,
  warmup,
} from './compute/service.js';

export { control, treatment };

export const question = 'Does a task need less CPU time, and with it less energy, on threads?';

export const about =
  'CPU seconds of the whole service for each of three tasks at once. They are a proxy for energy and no more: ' +
  'they know nothing of clock rates, sleeping cores and memory; a machine that is done earlier may sleep longer. The paper’s ' +
  '“algorithms that use less energy” (section 1) have no figure. Fast doubling saves CPU time (compute-algorithm).';

const TASKS = 3;

/** Tasks at the same time; more would be too many on the main thread, where the service bounds them. */
const several = (request) => Array.from({ length: TASKS }, () => request);

export const load = {
  kind: 'requests',
  pin: false,
  warmup: () => [...warmup(), ...several(fibonacci(2000, { at: 300 }))],
  takes: ({ cpuS: each }) => TASKS * each,
  requests: ({ task }) => several(task),
};

export const cases = [
  { label: 'F(100,000)', task: fibonacci(100_000), cpuS: cpuSecondsOf({ fibonacci: 100_000 }) },
  {
    label: 'RSA of 100,000',
    task: rsa(100_000),
    cpuS: cpuSecondsOf({ rsa: 100_000 }),
    from: 'paper',
  },
  {
    label: '100,000 records',
    task: records(100_000),
    cpuS: cpuSecondsOf({ records: 100_000 }),
    from: 'paper',
  },
  {
    label: 'F(1,000,000)',
    task: fibonacci(1_000_000),
    cpuS: cpuSecondsOf({ fibonacci: 1_000_000 }),
    from: 'paper',
  },
];

export const metrics = [
  {
    name: 'cpu_s',
    title: 'CPU per task',
    unit: 's',
    better: 'lower',
    of: (run) => cpuS(run) / TASKS,
  },
  { name: 'all_s', title: 'until all three are done', unit: 's', better: 'lower', of: wallS },
  { name: 'rss_mb', title: 'peak memory', unit: 'MB', better: 'lower', of: peakRssMb },
];

export const rounds = { quick: 6, paper: 50 };
