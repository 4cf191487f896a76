import { isNode } from './sample/process.js';
import { Sampler } from './sample/sampler.js';

/** The measured part of a run: what the kernel and the probe say between its beginning and its end. */
export class Window {
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

  /** It begins as soon as the server's processes know; `isWhole`: the CPU time that they have used before is in it. */
  async open({ isWhole }) {
    await this.#collector.begin();
    await this.#sampler.begin({ isWhole });
    this.#allocations?.begin();
    this.#nodes = this.#sampler.pids.filter(isNode);
  }

  /** It begins again, now, and the last call counts. */
  begin() {
    this.#sampler.begin();
    this.#collector.begin();
    this.#allocations?.begin();
    this.#nodes = this.#sampler.pids.filter(isNode);
    this.#hasEnded = false;
  }

  /** It ends now, if it has not yet. */
  end() {
    if (this.#hasEnded) return;
    this.#allocations?.end();
    this.#sampler.end();
    this.#collector.end();
    this.#hasEnded = true;
  }

  /** What was measured, up to now where nobody has called `end`. Closes. */
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
