/** Progress of an experiment on a terminal, and text in the width of one. */
import { wrapped } from '@millrace/base/text';
import { figure as number } from '../run/figures.js';
import { Progress } from '../run/progress.js';

const terminal = process.stdout.columns ?? process.stderr.columns ?? Infinity;

/** 100 columns, fewer on a terminal that has fewer; a table needs most of 80. */
export const WIDTH = Math.max(80, Math.min(100, terminal));

/** Breaks a text between words; lines that it has already stay. */
export function wrap(text, indent = '') {
  return text
    .split('\n')
    .flatMap((line) => wrapped(line, WIDTH - indent.length))
    .map((line) => indent + line)
    .join('\n');
}

/** An entry of a list; on a terminal its lines are broken, and stand below each other. */
export const entry = (head, text) =>
  head + (process.stdout.isTTY ? wrap(text, ' '.repeat(head.length)).trimStart() : text);

/** Cuts what is longer. */
export const clip = (text, width) => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

/** Starting, warming up and stopping a server, and the load: a guess until the first run is done. */
const ESTIMATE_MS = 10_000;

/** Progress of an experiment: a run is a step, reported when it is done. */
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
