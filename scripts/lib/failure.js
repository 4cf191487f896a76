/** An expected failure: its message is one sentence for the user, its stack is of no interest. */
export class Failure extends Error {}

/** Ends the process with code 1 after an error that nothing can be done about. */
export function exitWith(error) {
  console.error(error instanceof Failure ? error.message : error);
  process.exit(1);
}
