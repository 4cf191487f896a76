import { optionLines } from '@millrace/base/command';
import { LARGEST, SIZES } from '@millrace/lab/experiment';
import { choice, flag, readOnlyOptions, text, whole } from '@millrace/lab/run';
import { MOST_SEED, randomSeed } from '@millrace/lab/stats';

const OPTIONS = {
  size: choice(
    'SIZE',
    SIZES,
    'a quarter of an hour on 2 cores, 100 minutes, or about 40 hours (paper)',
  ),
  list: flag('the experiments, their questions, how many runs and how long at least; no run'),
  json: flag('JSON lines on stdout; text goes to stderr'),
  rounds: whole(1, 1000, "of all arms, for each case (the experiments' own)"),
  seed: whole(0, MOST_SEED, 'of the order of the arms (random)'),
  results: text(
    'D',
    "folder for raw samples, the suite's results and the report (bench/claims/results)",
  ),
  docs: text('F', 'the page of results (docs/research/results.md)'),
  resume: flag('goes on with the latest suite of the folder, which was stopped'),
  from: text('F', 'writes that page from the results of an earlier run, in file F'),
};

export const USAGE = `Usage: node bench/claims/suite/main.js [options]

Runs every experiment of bench/claims, one after the other, and
writes the results to docs/research/results.md and to a report.

${optionLines(OPTIONS)}

Exit codes: 0 done, 1 one has failed, 2 bad option or experiment, 3 one was
refused, 130 stopped by Ctrl-C (SIGTERM 143, SIGHUP 129): results so far are
kept.`;

/**
 * @param {string[]} argv
 * @returns {{ size: import('../../../packages/lab/experiment/plan.js').Size, list: boolean, json: boolean, help: boolean, resume: boolean, rounds: number | undefined, seed: number,
 *   results: string | undefined, docs: string | undefined, from: string | undefined }}
 * @throws {import('@millrace/base/command').UsageError} one sentence: what is wrong, and what is allowed
 */
export function readSuiteArgs(argv) {
  const options = readOnlyOptions(argv, OPTIONS);
  options.size ??= LARGEST;
  options.seed ??= randomSeed();
  return options;
}
