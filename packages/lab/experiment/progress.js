import { figure as number } from '../run/figures.js';
import { Progress } from '../run/progress.js';

/** Starting, warming up and stopping a server, and the load: a guess until the first run is done. */
const ESTIMATE_MS = 10_000;

/** Where an experiment is: a run is a step, told when it is done. */
export class Runs {
  #progress;
  #metric;
  #title;
  #step;
  #resolve;

  /**
   * @param {object} options
   * @param {number} options.steps
   * @param {number} [options.before] runs that were made before, by a part of the experiment that was stopped
   * @param {import('./format.js').Metric} options.metric that is shown of each run
   * @param {import('node:tty').WriteStream} options.out
   */
  constructor({ steps, before, metric, out }) {
    this.#metric = metric;
    // Lines that stay say what was measured; one that goes, that something is.
    this.#title = out.isTTY ? 'measuring' : '';
    this.#progress = new Progress({ steps, before, estimateMs: ESTIMATE_MS, out });
    this.#next();
  }

  /** @param {import('./gather.js').Told} told */
  async done(told) {
    // What was hindered is made again.
    this.#progress.steps = told.steps;
    this.#resolve(told);
    await this.#step;
    if (told.step < told.steps) this.#next();
  }

  end() {
    this.#progress.end();
  }

  #next() {
    const run = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#step = this.#progress.step(
      this.#title,
      () => run,
      (told) => this.#line(told),
    );
  }

  #line({ run, metrics }) {
    const value = metrics[this.#metric.name];
    const where = [
      run.case,
      `round ${run.round}`,
      run.role === 'twin' ? `${run.arm} again` : run.arm,
    ];
    const shown =
      value === null ? '' : `: ${this.#metric.title} ${number(value)} ${this.#metric.unit}`;
    return `${where.filter((each) => each !== '').join(', ')}${shown}`.trimEnd();
  }
}
