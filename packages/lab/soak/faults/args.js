import { parseArgs } from 'node:util';
import { LabError } from '../../load/errors.js';

export const USAGE = `Usage: node packages/lab/soak/faults/main.js [options]

  --seconds N      how long, 60 to 86400 (3600)
  --every N        seconds from one fault to the next, 15 to 600 (60, or 15 for
                   a soak of less than ten minutes)
  --seed N         of the order of the faults and their moments (1)
  --markdown FILE  writes a summary, such as docs/soak.md
  --help           this text (-h)

Exit codes: 0 no criterion refuted, 1 one is refuted, or the soak could not run,
2 bad option.`;

/** Below that, faults come faster, so that each kind has its turn. */
const SHORT_S = 600;

/**
 * @param {string[]} argv
 * @returns {{ seconds: number, every: number, seed: number, markdown: string | undefined, help: boolean }}
 * @throws {Error} one sentence: what is wrong, and what is allowed
 */
export function readSoakArgs(argv) {
  const string = { type: 'string' };
  const { values } = parseArgs({
    args: argv,
    options: {
      ...{ seconds: string, every: string, seed: string, markdown: string },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { markdown, help } = values;
  const seconds = number('seconds', values.seconds, 60, 86_400, 3600);
  const every = number('every', values.every, 15, 600, seconds < SHORT_S ? 15 : 60);
  const seed = number('seed', values.seed, 0, 2 ** 32 - 2, 1);
  if (every > seconds)
    throw invalid(`--every is ${every}; it must not be above --seconds, ${seconds}`);
  if (markdown === '') throw invalid('--markdown is empty; it must be the path of a file');
  return { seconds, every, seed, markdown, help };
}

function number(name, text, least, most, otherwise) {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw invalid(`--${name} is "${text}"; it must be a whole number from ${least} to ${most}`);
}

const invalid = (message) => new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
