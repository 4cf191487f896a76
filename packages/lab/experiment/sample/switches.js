import { switchesOf } from './process.js';

/**
 * Context switches of a process tree. The kernel counts them for each thread and forgets them with it, so a thread that
 * ends counts up to the last look at it.
 */
export class Switches {
  voluntary = 0;
  involuntary = 0;
  #seen;

  /** @param {number[]} pids of the processes; what their threads have had until now does not count */
  constructor(pids) {
    this.#seen = threadsOf(pids);
  }

  /** Looks at every thread, at some 10 µs each. @param {number[]} pids */
  look(pids) {
    const seen = threadsOf(pids);
    for (const [id, now] of seen) {
      const before = this.#seen.get(id);
      // Less than before: another thread has got the number.
      const isSame = before !== undefined && before.voluntary <= now.voluntary;
      this.voluntary += now.voluntary - (isSame ? before.voluntary : 0);
      this.involuntary += now.involuntary - (isSame ? before.involuntary : 0);
    }
    this.#seen = seen;
  }
}

const threadsOf = (pids) =>
  new Map(pids.flatMap((pid) => switchesOf(pid).map((thread) => [thread.id, thread])));
