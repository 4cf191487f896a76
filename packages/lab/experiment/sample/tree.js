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
   * CPU time so far, µs; a step is 10 ms. Looks at all of them. What a process has used that has ended is in that of the
   * one which waited for it; of one for which nobody has, up to the last look.
   *
   * @returns {{ userUs: number, systemUs: number }}
   */
  cpu() {
    this.look();
    const sum = { ...this.#lostTicks };
    for (const stat of this.#members.values()) add(sum, stat);
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
    // Whoever has waited for one that is gone was asked before it, and has got its time since.
    while (this.#refresh());
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

  /** Asks each again, parents before their children: so they have joined. @returns {boolean} whether one is gone */
  #refresh() {
    const gone = new Set();
    for (const [pid, known] of this.#members) {
      const stat = statOf(pid);
      if (stat?.started === known.started) this.#members.set(pid, stat);
      else gone.add(pid);
    }
    for (const pid of gone) {
      if (!this.#isWaitedFor(pid, gone)) add(this.#lostTicks, this.#members.get(pid));
    }
    for (const pid of gone) this.#members.delete(pid);
    return gone.size > 0;
  }

  /** Whether one of us counts what it has used: the nearest of those above it that has not ended. */
  #isWaitedFor(pid, gone) {
    const { parent } = this.#members.get(pid);
    if (!this.#members.has(parent)) return false;
    return !gone.has(parent) || this.#isWaitedFor(parent, gone);
  }
}

function add(sum, { userTicks, systemTicks, childUserTicks, childSystemTicks }) {
  sum.user += userTicks + childUserTicks;
  sum.system += systemTicks + childSystemTicks;
}
