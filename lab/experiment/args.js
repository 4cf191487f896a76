import { parseArgs } from 'node:util';

const MOST = { seed: 4_294_967_295, rounds: 1000 };

export const USAGE = `Usage: node lab/experiment/main.js [name] [options]

Runs the experiment lab/experiments/NAME.js, or the file whose path is given;
without a name it lists them.

  --quick      only its quick cases, in few rounds
  --json       one JSON object a line on stdout; what is for people goes to stderr
  --rounds N   of both arms, for each case (the experiment's own)
  --seed N     of the order of the arms (random)
  --results D  folder for the raw samples (lab/results)
  --help       this text

Exit codes: 0 done, 1 failed or refused, 2 bad option, 130 stopped by Ctrl-C.`;

/**
 * The options of the program.
 *
 * @param {string[]} argv
 * @returns {{ name: string | undefined, quick: boolean, json: boolean, help: boolean,
 *   rounds: number | undefined, seed: number, results: string | undefined }}
 * @throws {Error} one sentence: what is wrong, and what is allowed
 */
export function readArgs(argv) {
  const flag = { type: 'boolean', default: false };
  const { values, positionals } = parseArgs({
    args: argv,
    options: {
      ...{ quick: flag, json: flag, help: flag },
      rounds: { type: 'string' },
      seed: { type: 'string' },
      results: { type: 'string' },
    },
    allowPositionals: true,
  });
  if (positionals.length > 1) {
    throw new Error(`one experiment at a time: there are ${positionals.join(', ')}`);
  }
  return {
    name: positionals[0],
    ...values,
    rounds: whole('rounds', values.rounds, 1),
    seed: whole('seed', values.seed, 0) ?? Math.floor(Math.random() * (MOST.seed + 1)),
  };
}

function whole(name, value, least) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= MOST[name]) return number;
  throw new Error(
    `--${name} is "${value}"; allowed are whole numbers from ${least} to ${MOST[name]}.`,
  );
}
