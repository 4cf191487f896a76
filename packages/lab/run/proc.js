import { readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second wherever it tells a program. */
export const TICK_US = 10_000;

/**
 * CPU time of a process with all its threads, user and system, µs; a step is 10 ms.
 *
 * @throws {Error} `ENOENT` when there is no such process, or no /proc
 */
export function cpuUs(pid) {
  // The name of the program comes first, in brackets, and may hold anything.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ');
  const [userTicks, systemTicks] = fields.slice(11, 13).map(Number);
  return (userTicks + systemTicks) * TICK_US;
}

/**
 * Writing system calls of a process: sockets, files, pipes.
 *
 * @returns {number | null} null where the kernel does not tell
 */
export function systemWrites(pid) {
  try {
    return Number(/^syscw: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
  } catch {
    return null;
  }
}
