const REDRAW_MS = 500;
const CLEAR = '\r\x1b[K';

/**
 * Progress of a long run. On a terminal it is one line that is written again and again and is gone at
 * the end; elsewhere a line for each step that is done.
 */
export class Progress {
  #out;
  #steps;
  #estimateMs;
  #start = performance.now();
  #stepMs = 0;
  #before;
  #done;
  #timer;

  /**
   * @param {object} options
   * @param {number} options.steps
   * @param {number} options.estimateMs time of one step, until the first one is done
   * @param {number} [options.before] steps that were done before this program began
   * @param {import('node:tty').WriteStream} [options.out]
   */
  constructor({ steps, estimateMs, before = 0, out = process.stdout }) {
    this.#before = before;
    this.#done = before;
    this.#steps = steps;
    this.#estimateMs = estimateMs;
    this.#out = out;
  }

  /** Number of steps, when that changes on the way. */
  set steps(steps) {
    this.#steps = steps;
  }

  /** Runs a step; its result becomes the rest of its line, where lines stay. */
  async step(title, work, describe) {
    const start = performance.now();
    const head = `[${this.#done + 1}/${this.#steps}]`.padStart(7);
    const draw = () => {
      const line = `${head} ${title}   ${this.#times()}`;
      this.#out.write(`${CLEAR}${line.slice(0, (this.#out.columns ?? 80) - 1)}`);
    };
    if (this.#out.isTTY) {
      draw();
      this.#timer = setInterval(draw, REDRAW_MS);
    }
    try {
      const result = await work();
      this.#done += 1;
      this.#stepMs += performance.now() - start;
      if (!this.#out.isTTY) {
        const parts = [
          title === '' ? '' : title.padEnd(30),
          describe(result).padEnd(22),
          `(${this.#times()})`,
        ];
        this.#out.write(`${[head, ...parts.filter((part) => part !== '')].join(' ')}\n`);
      }
      return result;
    } finally {
      this.end();
    }
  }

  /** Clears the line. */
  end() {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#out.write(CLEAR);
  }

  #times() {
    const elapsedMs = performance.now() - this.#start;
    const done = this.#done - this.#before;
    const stepMs = done > 0 ? this.#stepMs / done : this.#estimateMs;
    const remainingMs = Math.max(0, (this.#steps - this.#before) * stepMs - elapsedMs);
    return `${clock(elapsedMs)}, ${this.#done === this.#steps ? 'done' : `${clock(remainingMs)} left`}`;
  }
}

/** `1:05`, minutes and seconds. */
function clock(ms) {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
