import { setTimeout as sleep } from 'node:timers/promises';
import { partCores } from '../run/cores.js';
import { startProgram, startServer } from '../run/server.js';
import { loads } from './loads/index.js';
import { Collector } from './probe/collector.js';
import { withoutCollections } from './probe/summary.js';
import { Allocations } from './sample/allocations.js';
import { isNode } from './sample/process.js';
import { Sampler } from './sample/sampler.js';

/** Time in ms for a server that has just cut every connection to be on its way out. */
const CRASH_MS = 500;
const STATS_MS = 60_000;

/** Time in ms for the kernel to report the end of a process whose connections it has closed, unless it is busy. */
const EXIT_MS = 50;

/**
 * Runs one arm once: starts its server, warms it up, loads it and samples it meanwhile, and stops it whatever happens.
 *
 * @param {object} options
 * @param {'control' | 'twin' | 'treatment'} options.role
 * @param {import('./format.js').Arm} options.arm with its command and environment as they are in this case
 * @param {import('./format.js').Load} options.load
 * @param {import('./format.js').Params} options.params
 * @param {number} options.round
 * @param {boolean} [options.collections] whether each garbage collection is looked at, which costs the server time
 * @param {boolean} [options.allocations] whether calls of the C library's allocator are counted, which makes each a little slower
 * @param {import('../run/cleanup.js').Cleanup} options.cleanup
 * @returns {Promise<Run>}
 * @throws {LabError} `MILLRACE_LAB_E_SERVER` when the server ends and may not, and those of the load
 *
 * @typedef {object} RunOf
 * @property {'control' | 'twin' | 'treatment'} role
 * @property {string} arm its name
 * @property {string} case its label
 * @property {number} round
 * @property {string} startedAt ISO 8601
 * @property {import('./sample/sampler.js').Costs} costs of the server with all its processes, in the measured window
 * @property {import('./probe/summary.js').Probe | null} probe of its Node.js processes in that window; null where there is none
 * @property {string | null} crash how the server ended, where the load lets it
 * @property {object | null} stats what the arm's `stats` answered after the load; null without, or when it cannot be read
 * @property {number} unprobed Node.js processes that were there all the time and have no probe
 * @property {string | null} proof the first line that the server wrote with the arm's `proof`; null where there is none
 * @property {string} output the first and the last 64 KB of what the server wrote on stdout and stderr
 * @property {string[]} notes what a reader should know, as that the server had to be killed
 * @typedef {import('./loads/index.js').Outcome & RunOf} Run
 */
export async function measure({
  role,
  arm,
  load,
  params,
  round,
  collections,
  allocations,
  cleanup,
}) {
  const startedAt = new Date().toISOString();
  const undo = [];
  try {
    const cores = isPinned(load) ? partCores() : null;
    if (cores) undo.push(() => cores.release());
    const core = cores?.server;
    const collector = await Collector.open(cleanup);
    undo.push(() => collector.close());

    const counted = allocations ? Allocations.open(cleanup) : null;
    undo.push(() => counted?.close());
    const env = {
      ...arm.env,
      ...collector.env(arm.env, { collections }),
      ...counted?.env(arm.env),
    };
    const probed = { ...arm, env };
    const { isProgram = false } = loads[load.kind];
    const server = await (isProgram ? startProgram : startServer)({ ...probed, core, cleanup });
    undo.push(() => server.stop());
    const window = new Window(server.pid, collector, counted, cleanup);
    undo.push(() => window.close());

    const context = {
      ...{ url: server.url, server, core, params, load, cleanup, arm: probed, routes: arm.routes },
      timeoutS: load.timeoutS,
      cpuUs: () => window.cpuUs(),
    };
    if (!isProgram) {
      await window.ready;
      await driven({ ...context, phase: 'warmup', begin() {}, end() {} });
    }
    // A program works already.
    await window.open({ isWhole: isProgram });
    const marks = { begin: () => window.begin(), end: () => window.end() };
    const outcome = await driven({ ...context, phase: 'measure', ...marks });
    const read = await window.read();
    const probe = collections ? read.probe : withoutCollections(read.probe);
    const { crash } = outcome;
    const stats =
      arm.stats === undefined || crash !== null ? null : await askFor(server, arm.stats);
    const note = await server.stop();
    return {
      ...{ role, arm: arm.name, case: params.label, round, startedAt },
      ...{ ...outcome, ...read, probe, stats, output: server.output, proof: server.proof },
      notes: [...(outcome.notes ?? []), ...(note ? [note] : [])],
    };
  } finally {
    for (const each of undo.reverse()) await each();
  }
}

/** Reports whether the server and the load shall have a core each. @param {import('./format.js').Load} load */
export const isPinned = ({ kind, pin = kind !== 'program' }) => pin;

/**
 * A load ends with its server, and it is told that this has ended rather than what came of it; where it may crash the
 * load goes on, and its outcome says `crash`.
 */
async function driven({ server, load, cleanup, ...context }) {
  const gone = new AbortController();
  let crash = null;
  server.failed.catch((error) => {
    crash = error.message;
    if (!load.mayCrash) gone.abort(error);
  });
  const signal = AbortSignal.any([cleanup.signal, gone.signal]);
  try {
    const { drive } = loads[load.kind];
    const outcome = await drive({ ...context, server, load, cleanup, signal });
    context.end();
    // One that ended with the last request has not been told yet; after the warm-up there are more to come.
    const isLast = context.phase === 'measure';
    if (isLast && (await server.hasExited(EXIT_MS))) await server.failed.catch(() => {});
    gone.signal.throwIfAborted();
    return { ...outcome, crash };
  } catch (error) {
    const isDead = !cleanup.signal.aborted && (await server.hasExited(CRASH_MS));
    // The failure tells how it ended, once all its output is there.
    if (isDead) await Promise.race([server.failed, sleep(STATS_MS, undefined, { ref: false })]);
    throw error;
  }
}

/** null when it cannot be had. */
async function askFor(server, path) {
  const late = new AbortController();
  const nothing = sleep(STATS_MS, null, { signal: late.signal }).catch(() => null);
  const answer = await Promise.race([server.get(path).catch(() => null), nothing]);
  late.abort();
  return answer;
}

/** The measured part of a run: what the kernel and the probe say between its beginning and its end. */
class Window {
  #sampler;
  #collector;
  #allocations;
  #hasEnded = false;
  /** Node.js processes that were there when it began. */
  #nodes = [];

  /**
   * @param {number} pid of the server
   * @param {import('./probe/collector.js').Collector} collector
   * @param {import('./sample/allocations.js').Allocations | null} allocations
   * @param {import('../run/cleanup.js').Cleanup} cleanup
   */
  constructor(pid, collector, allocations, cleanup) {
    this.#allocations = allocations;
    this.#sampler = new Sampler(pid, cleanup);
    this.#collector = collector;
  }

  /** Resolves when all can be counted. */
  get ready() {
    return this.#sampler.ready;
  }

  /** CPU time of the server so far, µs. */
  cpuUs() {
    return this.#sampler.cpuUs();
  }

  /** Opens the window as soon as the server's processes know; `isWhole`: the CPU time that they have used before is in it. */
  async open({ isWhole }) {
    await this.#collector.begin();
    await this.#sampler.begin({ isWhole });
    this.#allocations?.begin();
    this.#nodes = this.#sampler.pids.filter(isNode);
  }

  /** Begins the window again; the last call counts. */
  begin() {
    this.#sampler.begin();
    this.#collector.begin();
    this.#allocations?.begin();
    this.#nodes = this.#sampler.pids.filter(isNode);
    this.#hasEnded = false;
  }

  /** Ends the window. Idempotent. */
  end() {
    if (this.#hasEnded) return;
    this.#allocations?.end();
    this.#sampler.end();
    this.#collector.end();
    this.#hasEnded = true;
  }

  /** Returns the measurements, up to now where `end` was not called. Closes. */
  async read() {
    this.end();
    const probe = await this.#collector.read();
    const nodes = this.#nodes.filter((pid) => this.#sampler.pids.includes(pid));
    const unprobed = Math.max(0, nodes.length - this.#collector.connections);
    const costs = await this.#sampler.stop();
    return { costs: { ...costs, allocator: this.#allocations?.count ?? null }, probe, unprobed };
  }

  /** Ends the sampling, whatever was begun. May be called again. */
  async close() {
    await this.#sampler.stop();
  }
}
