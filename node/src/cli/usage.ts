/** A command line that is mistaken: one sentence that says how, and the exit code 2. */
export class UsageError extends Error {}

/** What cannot be done although the command line is in order: one sentence, and the exit code 1. */
export class Refusal extends Error {}

/** Says on stderr what went wrong, and sets the exit code. Throws anything that is a fault of this program. */
export function tell(command: string, error: unknown): void {
  if (!(error instanceof UsageError || error instanceof Refusal)) throw error;
  const isMistake = error instanceof UsageError;
  const help = isMistake ? ` See millrace ${command} --help.` : '';
  console.error(`millrace ${command}: ${error.message}${help}`);
  process.exitCode = isMistake ? 2 : 1;
}
