import { MOST_DIVIDED } from '../settings.js';
import { HttpError } from './errors.js';
import { Places } from './places.js';

/** Admission to the pool: a request is refused at once when it would only wait, and has room for its tasks when it is not. */
export class Admission {
  #pool;
  #queue;
  #divided = new Places(MOST_DIVIDED, 'requests that are divided into tasks');

  /** @param {number} queue tasks that may wait */
  constructor(pool, queue) {
    this.#pool = pool;
    this.#queue = queue;
  }

  /** Has one task run. */
  run(task, options) {
    this.#check();
    return this.#pool.run(task, options);
  }

  /** Does something that has many tasks run, a few at a time. */
  divided(work) {
    this.#check();
    return this.#divided.use(work);
  }

  #check() {
    const { needsDrain, queueSize } = this.#pool;
    if (needsDrain && queueSize >= this.#queue) {
      const text = 'All threads are busy and the queue is full.';
      throw new HttpError('overloaded', text, { retryAfter: this.#waitSeconds() });
    }
  }

  /** In about how many seconds what is queued now will be done. */
  #waitSeconds() {
    const { queued, running, maxThreads, runMs } = this.#pool.stats();
    const ms = ((queued.total + running) * runMs.mean) / maxThreads;
    return Math.min(60, Math.max(1, Math.ceil(ms / 1000)));
  }
}
