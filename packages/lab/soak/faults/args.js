import { optionLines, UsageError } from '@millrace/base/command';
import { readOnlyOptions, text, whole } from '../../run/command.js';

const OPTIONS = {
  seconds: whole(60, 86_400, 'how long, 60 to 86400 (3600)'),
  every: whole(
    15,
    600,
    'seconds between faults, 15 to 600 (60; 15 in a soak of less than ten minutes)',
  ),
  seed: whole(0, 2 ** 32 - 2, 'of the order of the faults and their moments (1)'),
  markdown: text('FILE', 'writes a summary, such as docs/benchmarks/soak.md'),
};

export const USAGE = `Usage: node packages/lab/soak/faults/main.js [options]

${optionLines(OPTIONS)}

Exit codes: 0 no criterion refuted, 1 one is refuted, or the soak could not run,
2 bad option.`;

/** Below that, faults come faster, so that each kind has its turn. */
const SHORT_S = 600;

/**
 * @param {string[]} argv
 * @returns {{ seconds: number, every: number, seed: number, markdown: string | undefined, help: boolean }}
 * @throws {UsageError} one sentence: what is wrong, and what is allowed
 */
export function readSoakArgs(argv) {
  const { seconds = 3600, seed = 1, ...given } = readOnlyOptions(argv, OPTIONS);
  const { every = seconds < SHORT_S ? 15 : 60 } = given;
  if (every > seconds) {
    throw new UsageError(`--every is ${every}; it must not be above --seconds, ${seconds}.`);
  }
  return { ...given, seconds, every, seed };
}
