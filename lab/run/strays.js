import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const NAME = 'MILLRACE_LAB_RUN';

/**
 * What marks a child and all that it starts, in their environment: a process may leave its group, and keeps this. One
 * that is started without the environment of its parent has none.
 *
 * @returns {Record<string, string>} to be added to the environment of the child
 */
export const newMark = () => ({ [NAME]: randomUUID() });

/** The mark as a process has it. @param {Record<string, string>} mark */
export const marked = (mark) => `${NAME}=${mark[NAME]}`;

/**
 * The processes that bear a mark and have not ended. Looks at every process that may be looked at: some milliseconds.
 *
 * @param {Record<string, string>} mark
 * @returns {number[]} their numbers
 */
export function strays(mark) {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => bears(pid, marked(mark))).map(Number);
}

function bears(pid, text) {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(text);
  } catch {
    // Gone, or somebody else's.
    return false;
  }
}
