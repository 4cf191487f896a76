import { commandOf } from './lib/program.js';

const PROGRAM = new URL('./files/program.js', import.meta.url);

export const question =
  'How many more file operations a second, when calls of the same tick are gathered?';

export const about =
  'So many calls at a time of readFile or appendFile, of millrace/fs and of node:fs/promises, in a program of their own. ' +
  'Files are in the page cache: what is measured is what a call costs, not a disk. The paper gives the gain of a chat’s ' +
  'file handling and does not say what sizes, how many at a time, or of which operation. The last reading case is one where ' +
  'nothing should be gained: the bytes themselves take the time.';

/** Reports whether millrace/fs was loaded, as by the treatment alone: it counts what passes through it. */
const isOn = ({ json }) => json.counted !== null && json.counted.reads + json.counted.appends > 0;

export const control = { name: 'node:fs/promises', command: commandOf(PROGRAM, 'node'), isOn };
export const treatment = { name: 'millrace/fs', command: commandOf(PROGRAM, 'millrace'), isOn };

export const load = { kind: 'program', timeoutS: 120 };

const KB = 1024;
const read = (label, bytes, atOnce, from = 'paper') => ({
  ...{ label, from, operation: 'reads', bytes, atOnce },
  count: bytes >= 1000 * KB ? 50 : 1000,
});
const append = (label, atOnce, from = 'paper') => ({
  ...{ label, from, operation: 'appends', bytes: 100, atOnce },
});

export const cases = [
  read('read 4 KB, 1 at a time', 4 * KB, 1),
  read('read 4 KB, 10 at a time', 4 * KB, 10),
  read('read 4 KB, 100 at a time', 4 * KB, 100, 'quick'),
  read('read 4 KB, 1,000 at a time', 4 * KB, 1000),
  read('read 64 KB, 100 at a time', 64 * KB, 100),
  read('read 1 MB, 10 at a time', 1024 * KB, 10, 'quick'),
  append('append 100 bytes, 1 at a time', 1),
  append('append 100 bytes, 100 at a time', 100, 'quick'),
];

export const claim = {
  text: 'File handling throughput +294.32 %',
  source: 'Gumgaonkar 2025, section 7.10',
  metric: 'files_per_s',
  atLeast: 3.9432,
  says: {
    met: 'Many calls for small files at a time.',
    'not met':
      'Less than claimed: where few calls come at a time, or bytes and not calls take the time.',
    refuted: 'Bytes, not calls, take the time.',
  },
};

export const metrics = [
  {
    name: 'files_per_s',
    title: 'file operations',
    unit: '1/s',
    better: 'higher',
    of: ({ values }) => values.answers_per_s,
  },
  {
    name: 'cpu_us_per_file',
    title: 'CPU per operation',
    unit: 'us',
    better: 'lower',
    of: ({ values }) => values.cpu_us_per_file,
  },
  {
    name: 'switches_per_1000',
    title: 'context switches per 1,000 operations',
    unit: '',
    better: 'lower',
    of: ({ costs, values }) =>
      ((costs.voluntarySwitches + costs.involuntarySwitches) * 1000) / values.answers,
  },
];

export const rounds = { quick: 7, paper: 50 };
