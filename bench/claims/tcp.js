import { commandOf } from './lib/program.js';

const PROGRAM = new URL('./tcp/program.js', import.meta.url);

export const question = 'Do larger reads make bulk downloads quicker, and what do they cost?';

export const about =
  'So many clients of one process download 5 MB from another one, a few times each; the program looks at a byte of each ' +
  'page that comes, or only counts. The default reads 64 KB at most, enlarge() of millrace/net up to 256 KB once reads come ' +
  'back full, and raises the buffer of the system. Loopback: both processes share the cores of one machine.';

/** Every socket of the treatment reads in growing sizes, none of the control's. */
const isOn = ({ json }) => json.enlarged > 0;

export const control = { name: 'default', command: commandOf(PROGRAM, 'default'), isOn };
export const treatment = { name: 'enlarge()', command: commandOf(PROGRAM, 'enlarge'), isOn };

export const load = { kind: 'program', timeoutS: 120 };

const downloads = (label, clients, times, { looks = true, from = 'paper' } = {}) => ({
  ...{ label, clients, times, looks, from },
});

export const cases = [
  downloads('8 clients, 64 downloads each', 8, 64),
  downloads('32 clients, 16 downloads each', 32, 16),
  downloads('128 clients, 4 downloads each', 128, 4),
  downloads('128 clients, one download each', 128, 1, { from: 'quick' }),
  downloads('128 clients, 4 downloads each, empty callback', 128, 4, { looks: false }),
];

const SOURCE = 'Jasti, libuv large sockets';
const BUSY = cases.filter(({ looks }) => looks).map(({ label }) => label);

export const claim = [
  {
    text: 'Total run time 8 % better when 128 clients read 5 MB of binary data a few times',
    source: SOURCE,
    metric: 'run_s',
    cases: BUSY,
    atLeast: 1.08,
  },
  {
    text: 'Use of other resources stays flat: CPU',
    source: SOURCE,
    metric: 'cpu_s_per_gb',
    cases: BUSY,
    atLeast: 0.95,
  },
  {
    text: 'Loop latency falls drastically (its figures are in pictures; taken as: by half)',
    source: SOURCE,
    metric: 'loop_p99_ms',
    cases: BUSY,
    atLeast: 2,
  },
];

const value = (name) => (run) => run.values[name];

export const metrics = [
  {
    name: 'run_s',
    title: 'until all is there',
    unit: 's',
    better: 'lower',
    of: value('run_s'),
  },
  {
    name: 'cpu_s_per_gb',
    title: 'CPU of the receiving process per GB',
    unit: 's',
    better: 'lower',
    of: value('cpu_s_per_gb'),
  },
  {
    name: 'kernel_s_per_gb',
    title: 'the part of it in system calls',
    unit: 's',
    better: 'lower',
    of: value('kernel_s_per_gb'),
  },
  {
    name: 'loop_p50_ms',
    title: 'delay of its loop, median',
    unit: 'ms',
    better: 'lower',
    of: value('loop_p50_ms'),
  },
  {
    name: 'loop_p99_ms',
    title: 'delay of its loop, p99',
    unit: 'ms',
    better: 'lower',
    of: value('loop_p99_ms'),
  },
  { name: 'chunk_kb', title: 'bytes per callback', unit: 'KB', of: value('chunk_kb') },
];

export const rounds = { quick: 7, paper: 50 };
