/** Options of the commands that measure: the value of each, and its meaning. */
import { optionLines } from '@millrace/base/command';
import { choice, flag, number, text, whole } from '../run/command.js';
import { MOST_SEED } from '../stats/random.js';
import { SIZES } from './plan.js';

/**
 * Options of the length of measuring.
 *
 * @param {Record<'rounds' | 'duration' | 'connections', string>} defaults
 * @returns {Record<string, import('../run/command.js').Option>}
 */
export const measuring = (defaults) => ({
  connections: { ...whole(1, 10_000, `clients (${defaults.connections})`), short: 'c' },
  duration: {
    ...number(0.5, 86_400, `measured seconds per run (${defaults.duration})`),
    short: 'd',
  },
  rounds: {
    ...whole(1, 1000, `rounds; each measures every arm once (${defaults.rounds})`),
    short: 'n',
  },
  effect: number(0.1, 1000, 'smallest effect worth finding, in percent (5)'),
  seed: whole(0, MOST_SEED, 'seed of everything random (random)'),
});

export const OUTPUT = {
  html: { ...text('FILE', 'writes the report as a page'), heading: 'Output' },
  markdown: text('FILE', 'writes it as text'),
  results: text('FOLDER', 'of the raw samples (millrace-results)'),
  'fail-on': text('FINDINGS', 'that exit with code 4, such as worse,undecided'),
  json: flag('JSON lines on stdout; text goes to stderr'),
};

/** Options of an experiment in a file, in place of its own. */
export const OPTIONS = {
  size: { ...choice('SIZE', SIZES, 'cases and rounds (paper)'), heading: 'Measuring' },
  ...measuring({ connections: 'its own', duration: 'its own', rounds: 'its own' }),
  resume: flag('continues the last run of it that was stopped'),
  for: text('TIME', 'ends after a whole round, such as 90m or 2h'),
  ...OUTPUT,
};

export const EXIT_CODES = `Exit codes: 0 done, 1 failed, 2 bad option or experiment, 3 refused: no figure
counts, 4 found what --fail-on names, 130 stopped by Ctrl-C (SIGTERM 143, SIGHUP
129): whole rounds are kept.`;

export const USAGE = `Usage: millrace experiment FILE.js [options]

Runs an experiment that is kept in a file: a question, two arms or more, a load,
metrics. To compare two commands you need no file: millrace compare --help.

  millrace experiment ./cache.js --rounds 10 --html report.html

${optionLines(OPTIONS)}

${EXIT_CODES}`;
