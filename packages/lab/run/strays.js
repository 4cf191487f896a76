import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const NAME = 'MILLRACE_LAB_RUN';

/** A flag of the kernel: the process is on its way out. */
const PF_EXITING = 0x4;

/**
 * Mark of a child and all that it starts, in their environment: a process may leave its group, and keeps this. One
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

/**
 * State of a process as the kernel tells it: its group, when it began, and whether it has ended or is about to. One that ends loses its
 * environment, and so its mark, before it closes its files and ports; once it is a zombie it has closed them.
 *
 * @param {number} pid
 * @returns {{ group: number, started: string, isEnding: boolean } | null} null where it is no more, or only waits to be asked how it
 *   has ended
 */
export function lookAt(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program comes first, in brackets, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, , group] = fields;
    // Of one whose first thread has ended, others may still be about to, with the files open.
    const [flags, threads] = [fields[6], fields[17]].map(Number);
    if (state === 'X' || (state === 'Z' && threads <= 1)) return null;
    return { group: Number(group), started: fields[19], isEnding: (flags & PF_EXITING) !== 0 };
  } catch {
    return null;
  }
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
