import { LabError } from '../load/errors.js';

/** Says on stderr what ended something: a sentence of the lab's own errors, all that is known of others. */
export function tell(error) {
  console.error(error instanceof LabError ? `Failed: ${sentence(error.message)}` : error.stack);
}

/** Some end in a question, or in what a server wrote. */
const sentence = (words) => (/[.?!]$/.test(words) ? words : `${words}.`);
