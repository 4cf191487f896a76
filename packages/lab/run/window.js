/**
 * The server's costs from the end of the warm-up to the last full second of the load, read as the
 * generator reports each second, so that neither starting nor connecting counts.
 */
export class Window {
  #server;
  #first;
  #last;
  #deliveries = 0;

  constructor(server) {
    this.#server = server;
  }

  /** Takes a progress report of the generator. */
  take({ phase, deliveries }) {
    if (phase === 'warmup') this.#first = this.#read();
    if (phase !== 'measure') return;
    this.#deliveries += deliveries;
    this.#last = this.#read();
  }

  #read() {
    const { cpuUs, writes } = this.#server.usage();
    const counted = writes === null ? this.#server.get('/stats') : Promise.resolve(null);
    counted.catch(() => {}); // `costs` tells
    return { at: performance.now(), cpuUs, writes, counted };
  }

  /**
   * @returns {Promise<{ cpuUsPerMessage: number, cpuShare: number, writesPerMessage: number,
   *   writesBy: 'kernel' | 'server' }>} as `Run` has them
   */
  async costs() {
    const first = this.#first;
    const last = this.#last;
    const cpuUs = last.cpuUs - first.cpuUs;
    const writesBy = last.writes === null ? 'server' : 'kernel';
    const writes =
      writesBy === 'kernel'
        ? last.writes - first.writes
        : (await last.counted).socket_writes - (await first.counted).socket_writes;
    return {
      cpuUsPerMessage: cpuUs / this.#deliveries,
      cpuShare: cpuUs / 1000 / (last.at - first.at),
      writesPerMessage: writes / this.#deliveries,
      writesBy,
    };
  }
}
