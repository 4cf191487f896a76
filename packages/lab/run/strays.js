import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const NAME = 'MILLRACE_LAB_RUN';

/**
 * What marks a child and all that it starts, in their environment: a process may leave its group, and keeps this. One
 * that is started without the environment of its parent has none. Where this program is itself the child of a lab, the
 * mark goes on from its own: what ends it by force must find its children, whose guards bear its mark and end with it.
 *
 * @returns {Record<string, string>} to be added to the environment of the child
 */
export function newMark() {
  const own = process.env[NAME];
  return { [NAME]: own ? `${own}/${randomUUID()}` : randomUUID() };
}

/**
 * The mark as a process has it.
 *
 * @param {Record<string, string>} mark
 * @returns {string} what its children have goes on with `/` after it
 */
export const marked = (mark) => `${NAME}=${mark[NAME]}`;

/**
 * The processes that bear a mark and have not ended. Looks at every process that may be looked at: some milliseconds.
 *
 * @param {Record<string, string>} mark
 * @returns {number[]} their numbers
 */
export function strays(mark) {
  const text = marked(mark);
  return allPids().filter((pid) => bears(pid, text));
}

/** The numbers of all processes. */
export function allPids() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function bears(pid, text) {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return environment.some((each) => each === text || each.startsWith(`${text}/`));
  } catch {
    // Gone, or somebody else's.
    return false;
  }
}
