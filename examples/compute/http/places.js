import { HttpError } from './errors.js';

/** A bounded number of places for requests that need much; who finds none is refused at once. */
export class Places {
  #taken = 0;
  #most;
  #what;

  /** @param {string} what they are for, as it is told to who is refused */
  constructor(most, what) {
    this.#most = most;
    this.#what = what;
  }

  /** Does something that needs a place. */
  async use(work) {
    if (this.#taken >= this.#most) {
      const text = `${this.#most} ${this.#what} are under way; no more are taken.`;
      throw new HttpError('overloaded', text, { retryAfter: 1 });
    }
    this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#taken -= 1;
    }
  }
}
