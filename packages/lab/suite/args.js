import { parseArgs } from 'node:util';

const MOST_SEED = 4_294_967_295;

export const USAGE = `Usage: node packages/lab/suite/main.js [options]

Runs every experiment of packages/lab/experiments, one after the other, and writes the
results to docs/results.md and to a report.

  --quick      small cases, few rounds: a quarter of an hour on 2 cores; the
               full run takes a day and a half
  --list       the experiments, their questions, how many runs and how long at
               least; no run
  --json       JSON lines on stdout; text goes to stderr
  --rounds N   of all arms, for each case (the experiments' own)
  --seed N     of the order of the arms (random)
  --results D  folder for raw samples, the suite's results and the report
               (lab/results)
  --docs F     the page of results (docs/results.md)
  --from F     writes that page from the results of an earlier run, in file F
  --help       this text (-h)

Exit codes: 0 done, 1 one has failed, 2 bad option or experiment, 3 one was
refused, 130 stopped by Ctrl-C (SIGTERM 143, SIGHUP 129): results so far are
kept.`;

/**
 * @param {string[]} argv
 * @returns {{ quick: boolean, list: boolean, json: boolean, help: boolean, rounds: number | undefined, seed: number,
 *   results: string | undefined, docs: string | undefined, from: string | undefined }}
 * @throws {Error} one sentence: what is wrong, and what is allowed
 */
export function readSuiteArgs(argv) {
  const flag = { type: 'boolean', default: false };
  const text = { type: 'string' };
  const { values } = parseArgs({
    args: argv,
    options: {
      ...{ quick: flag, list: flag, json: flag, help: { ...flag, short: 'h' } },
      ...{ rounds: text, seed: text, results: text, docs: text, from: text },
    },
  });
  return {
    ...values,
    rounds: whole('rounds', values.rounds, 1, 1000),
    seed: whole('seed', values.seed, 0, MOST_SEED) ?? Math.floor(Math.random() * (MOST_SEED + 1)),
  };
}

function whole(name, value, least, most) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new Error(`--${name} is "${value}"; allowed are whole numbers from ${least} to ${most}.`);
}
