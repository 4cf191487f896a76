import { cores, wallS } from '@millrace/lab/metrics';
import { SOURCE } from './compute/paper.js';
import {
  CORES,
  command,
  fibonacci,
  health,
  treatment as pool,
  records,
  rsa,
  warmup,
} from './compute/service.js';
import { parallelShare, speedup } from './lib/amdahl.js';

const TASKS = 8;

export const question = `How much faster are tasks on ${CORES} threads than on one, and what does Amdahl’s law say?`;

export const about =
  'The pool with one thread, and with one for each core. Amdahl’s law: 1 / ((1 − P) + P / N), where P is the ' +
  'share of the work that can be divided and N the processors.';

const isOn = ({ answers }) => answers.at(-1).json.tasks.pool.maxThreads > 1;

export const control = { ...pool, name: 'one thread', command: command('--threads', '1'), isOn };

export const treatment = {
  ...pool,
  name: `${CORES} threads`,
  command: command('--threads', `${CORES}`),
  isOn,
};

export const claim = {
  text: 'After integrating the library 75 % of the code is parallelized',
  source: `${SOURCE}, section 8.1`,
  metric: 'all_s',
  atLeast: speedup(0.75, CORES),
};

export const load = {
  kind: 'requests',
  pin: false,
  warmup: () => [...warmup(), fibonacci(20_000, { at: 300 }), fibonacci(20_000, { at: 300 })],
  requests: ({ tasks }) => [...tasks, health({ at: 1 })],
};

export const cases = [
  {
    label: `${TASKS} computations of F(100,000)`,
    tasks: Array.from({ length: TASKS }, () => fibonacci(100_000)),
  },
  { label: '500,000 records, in ten tasks', tasks: [records(500_000)] },
  { label: 'RSA of 100,000, in two parts', tasks: [rsa(100_000)] },
  { label: 'one F(100,000)', tasks: [fibonacci(100_000)] },
];

export const metrics = [
  { name: 'all_s', title: 'until all is done', unit: 's', better: 'lower', of: wallS },
  { name: 'cores', title: 'cores in use', unit: '', of: cores },
];

export const rounds = { quick: 6, paper: 50 };

/** Notes on what the law says for the paper's shares, and on the share that explains what was measured. */
export function notes({ figures }) {
  const two = (value) => value.toFixed(2);
  const law = [0.75, 0.8].map(
    (share) =>
      `P = ${share}: ${[...new Set([CORES, 2, 4, 8])]
        .sort((a, b) => a - b)
        .map((n) => `${two(speedup(share, n))} on ${n}`)
        .join(', ')}`,
  );
  const measured = figures
    .filter(({ metric, ahead }) => metric === 'all_s' && ahead !== null)
    .map(
      ({ case: label, ahead }) => `${label}: ${two(ahead)}, P ${two(parallelShare(ahead, CORES))}`,
    );
  return [
    `Amdahl’s law, cores: ${law.join('; ')}. The paper prints it without the outer brackets, which would give ` +
      `${two(1 / 0.25 + 0.75 / 4)} and ${two(1 / 0.2 + 0.8 / 4)} on 4 cores, and writes 0.80 for 4 cores where it has ` +
      'computed with 0.75 (2.29); its 2.91 on 8 cores is 0.75, too.',
    `Measured speed-up on ${CORES} cores, and the share P that explains it: ${measured.join('; ')}.`,
  ];
}
