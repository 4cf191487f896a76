/** CPU time of another process, by the kernel's counters: a server that is overloaded could not be asked. */
import { readFileSync } from 'node:fs';

/** Linux reports to user space in hundredths of a second, whatever its own clock is. */
const tickUs = 10_000;

/** User and system time of all threads of a process so far, µs. */
export function cpuUs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name, in brackets, may hold anything; state is the third field, utime and stime 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickUs;
}

/** CPU per delivery while the generator measures, fed with its progress lines. */
export class CpuPerDelivery {
  #pid;
  #first = null;
  #last = null;
  #deliveries = 0;

  constructor(pid) {
    this.#pid = pid;
  }

  /** `deliveries` are those since the line before. */
  progress({ phase, deliveries }) {
    if (phase !== 'measure') return;
    this.#last = cpuUs(this.#pid);
    if (this.#first === null) this.#first = this.#last;
    else this.#deliveries += deliveries;
  }

  /** µs; NaN when there were fewer than two lines. */
  get value() {
    return (this.#last - this.#first) / this.#deliveries;
  }
}
