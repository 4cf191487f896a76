import { TICK_US } from '../../run/proc.js';
import { allPids, statOf } from './process.js';

/** A process and all of its descendants. */
export class Tree {
  #root;
  /** By number; a process stays here when its parent has ended and it goes on. */
  #members = new Map();
  #strangers = new Set();
  #lostTicks = { user: 0, system: 0 };

  /** @param {number} root its number */
  constructor(root) {
    this.#root = root;
    this.look(() => true);
  }

  /** The numbers of those that were there at the last look. */
  get pids() {
    return [...this.#members.keys()];
  }

  /**
   * CPU time so far, µs; a step is 10 ms. What a process has used that has ended is in that of the one which waited for
   * it; of one for which nobody has, up to the last look.
   *
   * @returns {{ userUs: number, systemUs: number }}
   */
  cpu() {
    const sum = { ...this.#lostTicks };
    for (const [pid, known] of this.#members) {
      const stat = statOf(pid);
      if (stat?.started === known.started) this.#members.set(pid, stat);
      add(sum, this.#members.get(pid));
    }
    return { userUs: sum.user * TICK_US, systemUs: sum.system * TICK_US };
  }

  /** Threads, as of the last look. */
  get threads() {
    return [...this.#members.values()].reduce((sum, { threads }) => sum + threads, 0);
  }

  /**
   * Looks for descendants that are new or gone. Whoever measures latencies meanwhile must not wait for a look at every
   * process of the machine: only those are looked at that were not there before, and of them only numbers greater than
   * the first one's, which a process gets unless they have begun again.
   */
  look(isLookedAt = (pid) => pid > this.#root) {
    const members = this.#members;
    const gone = [];
    for (const [pid, known] of members) {
      const stat = statOf(pid);
      if (stat?.started === known.started) members.set(pid, stat);
      else gone.push(pid);
    }
    this.#forget(gone);
    const pids = allPids();
    const found = new Map();
    for (const pid of pids) {
      if (members.has(pid) || this.#strangers.has(pid)) continue;
      if (pid !== this.#root && !isLookedAt(pid)) continue;
      const stat = statOf(pid);
      if (stat) found.set(pid, stat);
    }
    this.#join(found);
    this.#strangers = new Set(pids.filter((pid) => !members.has(pid)));
  }

  /** A parent may have a greater number than its child, so it takes rounds until nobody is found. */
  #join(found) {
    for (let size = -1; size !== this.#members.size; ) {
      size = this.#members.size;
      for (const [pid, stat] of found) {
        if (pid === this.#root || this.#members.has(stat.parent)) this.#members.set(pid, stat);
      }
    }
  }

  /** Whoever has waited for them counts them, if that is one of us. */
  #forget(pids) {
    const ended = pids.map((pid) => [pid, this.#members.get(pid)]);
    for (const [, stat] of ended) {
      if (!this.#members.has(stat.parent)) add(this.#lostTicks, stat);
    }
    for (const pid of pids) this.#members.delete(pid);
  }
}

function add(sum, { userTicks, systemTicks, childUserTicks, childSystemTicks }) {
  sum.user += userTicks + childUserTicks;
  sum.system += systemTicks + childSystemTicks;
}
