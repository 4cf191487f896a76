/** CPU time of another process, by the kernel's counters: a server that is overloaded could not be asked. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds of each thread; not in every kernel. */
const hasSchedstat = existsSync('/proc/self/schedstat');

/** Unit of CPU time of a process in Linux, a hundredth of a second whatever its own clock is. */
const tickUs = 10_000;

/** CPU time of a process, user and system, with all of its threads. */
export class CpuClock {
  #pid;
  /** Nanoseconds by thread: one that is gone has used what it had. */
  #threads = new Map();

  constructor(pid) {
    this.#pid = pid;
  }

  /** µs so far. */
  read() {
    if (!hasSchedstat) return this.#ofProcess();
    const folder = `/proc/${this.#pid}/task`;
    for (const thread of readdirSync(folder)) {
      const stat = textOf(`${folder}/${thread}/schedstat`);
      if (stat !== null) this.#threads.set(thread, Number(stat.split(' ')[0]));
    }
    return [...this.#threads.values()].reduce((a, b) => a + b, 0) / 1000;
  }

  #ofProcess() {
    const stat = textOf(`/proc/${this.#pid}/stat`);
    // The name, in brackets, may hold anything; state is the third field, utime and stime 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickUs;
  }
}

/** null when it has just ended. */
function textOf(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}
