import { readdirSync, readFileSync } from 'node:fs';
import { TICK_US } from '../run/proc.js';

const LOOK_MS = 100;

/** A process and all of its descendants, by the kernel's counters. Needs a /proc as Linux has it. */
export class Tree {
  #root;
  #pids;
  #timer;
  #peakRssBytes = 0;
  #peakThreads = 0;

  /**
   * Looks for new descendants, and for the most memory in use, ten times a second until `end`.
   *
   * @param {number} pid
   */
  constructor(pid) {
    this.#root = pid;
    this.#look(() => true);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /**
   * CPU time so far, user and system, of all that runs and of all that has been waited for, µs; a step is
   * 10 ms. A child that its parent has not waited for yet is missing once it is gone.
   */
  cpuUs() {
    const ticks = this.#pids.map((pid) => statOf(pid)?.ticks ?? 0);
    return ticks.reduce((a, b) => a + b, 0) * TICK_US;
  }

  /** The most resident memory and the most threads that were seen. */
  peak() {
    this.#look(() => true);
    return { rssBytes: this.#peakRssBytes, threads: this.#peakThreads };
  }

  end() {
    clearInterval(this.#timer);
  }

  /**
   * Whoever measures latencies meanwhile must not wait for a look at every process of the machine, so only
   * greater numbers than the server's are looked at: a process gets a smaller one only when they begin again.
   */
  #look(isLookedAt = (pid) => pid > this.#root || this.#pids.includes(pid)) {
    this.#pids = descendants(this.#root, isLookedAt);
    const sum = (of) => this.#pids.map(of).reduce((a, b) => a + b, 0);
    this.#peakRssBytes = Math.max(this.#peakRssBytes, sum(rssBytes));
    this.#peakThreads = Math.max(
      this.#peakThreads,
      sum((pid) => statOf(pid)?.threads ?? 0),
    );
  }
}

/** The process itself comes first. */
function descendants(root, isLookedAt) {
  const children = new Map();
  const pids = readdirSync('/proc').map(Number);
  for (const pid of pids.filter((each) => Number.isInteger(each) && isLookedAt(each))) {
    const stat = statOf(pid);
    if (stat) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** null when there is no such process any more. */
function statOf(pid) {
  const text = textOf(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name of the program comes first, in brackets, and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks, threads: Number(fields[17]) };
}

function rssBytes(pid) {
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(textOf(`/proc/${pid}/status`) ?? '')?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function textOf(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return null;
    throw error;
  }
}
