/**
 * Samples a server's process tree over a window.
 *
 * The kernel counts CPU time per process and context switches per thread, and forgets both when they end. So the tree is looked at four times a
 * second: a process that ended counts by what its parent has waited for, a thread that ended by its last look.
 */
import { writeFileSync } from 'node:fs';
import { TICK_US } from '../../run/proc.js';
import { busyS } from '../host.js';
import { allPids, descriptorsOf, memoryOf, statOf, switchesOf } from './process.js';
import { countSyscalls } from './syscalls.js';

const LOOK_MS = 250;
const WINDOWS = 2;

/**
 * Samples a server's process tree over a window: see `Costs`. A look costs the process that it runs in one or two ms of CPU
 * time, most of it for the context switches of each thread, four times a second; the server pays for the count of its
 * system calls alone.
 *
 * @typedef {object} Costs
 * @property {number} wallS length of the window
 * @property {number} cpuS user and system, of all processes; a step is 10 ms
 * @property {number} cpuUserS
 * @property {number} cpuSystemS
 * @property {number} othersS CPU seconds of everything on the machine but the server, this process and its children: the noise
 * @property {number} rssBytes resident at the end, in sum; memory that processes share counts in each
 * @property {number} peakRssBytes the most at a look, or the sum of the peaks of those that are there at the end
 * @property {number} peakThreads the most at a look, as the next one
 * @property {number} peakDescriptors
 * @property {number} voluntarySwitches times that a thread went to sleep
 * @property {number} involuntarySwitches times that one was made to wait
 * @property {number | null} syscalls system calls; null where perf cannot count them
 * @property {{ allocations: number, frees: number } | null} [allocator] calls of the C library's allocator; null unless a metric asks for them
 * @property {Record<'cpu' | 'rss_bytes' | 'threads' | 'descriptors', [number, number][]>} series each as [seconds, value];
 *   of `cpu` the cores in use since the one before
 */
export class Sampler {
  #tree;
  /** Counters, of which each counts for one window: a load may say that its window begins later than the caller thought. */
  #counters = [];
  #counter = null;
  #timer;
  #window = null;
  #costs = null;

  /**
   * Resolves when it can count system calls, or knows that it cannot. A window may begin before; its calls are not counted.
   *
   * @type {Promise<void>}
   */
  ready;

  /**
   * @param {number} pid
   * @param {import('../../run/cleanup.js').Cleanup} cleanup
   */
  constructor(pid, cleanup) {
    this.#tree = new Tree(pid);
    const counters = Array.from({ length: WINDOWS }, () => countSyscalls(this.#tree.pids, cleanup));
    this.ready = Promise.all(counters).then((all) => {
      this.#counters = all.filter((each) => each !== null);
    });
  }

  /** The processes' numbers at the last look. */
  get pids() {
    return this.#tree.pids;
  }

  /** CPU time of the tree so far, µs. */
  cpuUs() {
    const { userUs, systemUs } = this.#tree.cpu();
    return userUs + systemUs;
  }

  /**
   * The window begins now; resolves when system calls are counted as well.
   *
   * @param {{ isWhole?: boolean }} [options] whether what the tree has used before is in it
   */
  begin({ isWhole = false } = {}) {
    clearInterval(this.#timer);
    this.#tree.look(() => true);
    const { pids } = this.#tree;
    for (const pid of pids) resetPeak(pid);
    this.#costs = null;
    this.#window = {
      switches: new Switches(pids),
      start: { ...this.#read(), ...(isWhole && { userUs: 0, systemUs: 0 }) },
      peaks: { rssBytes: 0, threads: 0, descriptors: 0 },
      series: { cpu: [], rss_bytes: [], threads: [], descriptors: [] },
      before: null,
    };
    this.#counter?.stop();
    this.#counter = this.#counters.shift() ?? null;
    const counting = this.#counter?.begin();
    this.#look();
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    return counting;
  }

  /** The window ends now, if it has not yet. */
  end() {
    if (this.#costs !== null) return;
    this.#counter?.end();
    const { start, switches, series, peaks } = this.#window;
    const end = this.#read();
    const { rssBytes, highestRssBytes } = this.#look();
    clearInterval(this.#timer);
    const seconds = (key) => (end[key] - start[key]) / 1e6;
    this.#costs = {
      wallS: seconds('atUs'),
      cpuS: seconds('userUs') + seconds('systemUs'),
      cpuUserS: seconds('userUs'),
      cpuSystemS: seconds('systemUs'),
      othersS: Math.max(0, seconds('busyUs') - seconds('familyUs')),
      rssBytes,
      peakRssBytes: Math.max(peaks.rssBytes, highestRssBytes),
      peakThreads: peaks.threads,
      peakDescriptors: peaks.descriptors,
      voluntarySwitches: switches.voluntary,
      involuntarySwitches: switches.involuntary,
      series,
    };
  }

  /**
   * Stops, whether it has begun or not.
   *
   * @returns {Promise<Costs | null>} null when no window has ended
   */
  async stop() {
    clearInterval(this.#timer);
    await this.ready;
    for (const each of this.#counters) await each.stop();
    const syscalls = (await this.#counter?.stop()) ?? null;
    return this.#costs && { ...this.#costs, syscalls };
  }

  #look() {
    const { start, peaks, series, switches, before } = this.#window;
    const now = { at: performance.now() / 1000 - start.atUs / 1e6, cpuUs: this.cpuUs() };
    const { pids, threads } = this.#tree;
    switches.look(pids);
    const memory = pids.map(memoryOf).filter((each) => each !== null);
    const rssBytes = sum(memory, (each) => each.rssBytes);
    const descriptors = sum(pids, descriptorsOf);
    peaks.rssBytes = Math.max(peaks.rssBytes, rssBytes);
    peaks.threads = Math.max(peaks.threads, threads);
    peaks.descriptors = Math.max(peaks.descriptors, descriptors);

    if (before) {
      const cores = (now.cpuUs - before.cpuUs) / 1e6 / (now.at - before.at);
      series.cpu.push([now.at, Math.max(0, cores)]);
    }
    this.#window.before = now;
    series.rss_bytes.push([now.at, rssBytes]);
    series.threads.push([now.at, threads]);
    series.descriptors.push([now.at, descriptors]);
    return { rssBytes, highestRssBytes: sum(memory, (each) => each.peakRssBytes) };
  }

  /** The clock, and what was used up to now, µs. */
  #read() {
    const own = process.cpuUsage();
    const { userTicks, systemTicks } = statOf(process.pid);
    // All that this process has started, and of this one the exact time in place of the kernel's steps.
    const family = new Tree(process.pid).cpu();
    const familyUs = family.userUs + family.systemUs - (userTicks + systemTicks) * TICK_US;
    return {
      atUs: performance.now() * 1000,
      ...this.#tree.cpu(),
      busyUs: busyS() * 1e6,
      familyUs: familyUs + own.user + own.system,
    };
  }
}

/** Resets the kernel's peak of a process's memory, which is that of the window from here on; where it may not be reset, it is older. */
function resetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // It is gone, or the kernel does not let us.
  }
}

const sum = (list, of) => list.reduce((total, each) => total + of(each), 0);

/** A process and all of its descendants. */
export class Tree {
  #root;
  /** Processes by number, also when the parent of one has ended. */
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

  /** Reports whether one of us counts what it has used: the nearest of those above it that has not ended. */
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

/**
 * Context switches of a process tree. The kernel counts them for each thread and forgets them with it, so a thread that
 * ends counts up to the last look at it.
 */
class Switches {
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
