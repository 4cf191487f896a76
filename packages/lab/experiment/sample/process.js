/** Figures of the kernel about one process. Needs Linux's /proc; null for a process that is gone. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

/**
 * @param {number} pid
 * @returns {Stat | null}
 *
 * @typedef {object} Stat
 * @property {number} parent
 * @property {string} started tells processes apart that have had the same number
 * @property {number} userTicks
 * @property {number} systemTicks
 * @property {number} childUserTicks of children that it has waited for, as the next one
 * @property {number} childSystemTicks
 * @property {number} threads
 */
export function statOf(pid) {
  const text = textOf(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name of the program comes first, in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks, childUserTicks, childSystemTicks] = fields
    .slice(11, 15)
    .map(Number);
  return {
    parent: Number(fields[1]),
    started: fields[19],
    ...{ userTicks, systemTicks, childUserTicks, childSystemTicks },
    threads: Number(fields[17]),
  };
}

/** @returns {{ rssBytes: number, peakRssBytes: number } | null} resident now, and the most since `resetPeak` */
export function memoryOf(pid) {
  const text = textOf(`/proc/${pid}/status`);
  if (text === null) return null;
  return { rssBytes: numberIn(text, 'VmRSS') * 1024, peakRssBytes: numberIn(text, 'VmHWM') * 1024 };
}

/**
 * The context switches so far of each thread that the process has now. Costs some 10 µs a thread.
 *
 * @returns {{ id: number, voluntary: number, involuntary: number }[]}
 */
export function switchesOf(pid) {
  return namesIn(`/proc/${pid}/task`).flatMap((id) => {
    const text = textOf(`/proc/${pid}/task/${id}/status`);
    if (text === null) return [];
    return {
      id: Number(id),
      voluntary: numberIn(text, 'voluntary_ctxt_switches'),
      involuntary: numberIn(text, 'nonvoluntary_ctxt_switches'),
    };
  });
}

/** Open descriptors; 0 when it is gone. */
export function descriptorsOf(pid) {
  const path = `/proc/${pid}/fd`;
  // Since Linux 6.2 the size of the folder is their number; before, it is 0.
  return attempt(() => statSync(path).size, 0) || namesIn(path).length;
}

/** Reports whether it runs Node.js, and is one that may be asked. */
export function isNode(pid) {
  const program = attempt(() => readlinkSync(`/proc/${pid}/exe`), '');
  return /\/node(js)?( \(deleted\))?$/.test(program);
}

/** The numbers of all processes. */
export function allPids() {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** The number in the line that begins so. */
function numberIn(text, name) {
  const line = `\n${name}:`;
  const at = text.indexOf(line);
  return at < 0 ? 0 : Number.parseInt(text.slice(at + line.length, at + line.length + 24), 10);
}

const namesIn = (path) => attempt(() => readdirSync(path), []);
const textOf = (path) => attempt(() => readFileSync(path, 'latin1'), null);

/** Reads about a process, which fails when it ends meanwhile, or belongs to another user. */
function attempt(read, otherwise) {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) return otherwise;
    throw error;
  }
}
