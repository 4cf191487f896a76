/** Connections to a server that says hello, on each of which the next request leaves when the last answer has come. */
import { get, Pool } from './http-client.js';

const hello = get('/');

export class ClosedLoop {
  answers = 0;
  /** Answered 503: a guard that has no reason to may do so all the same. */
  shed = 0;
  /** The first answer that was neither; null: none. */
  wrong = null;
  #pool;
  #connections;

  constructor(port, connections) {
    this.#pool = new Pool(port);
    this.#connections = connections;
  }

  connect() {
    return this.#pool.connect(this.#connections);
  }

  /** Resolves when so many requests more have been answered. */
  async run(requests) {
    let left = requests;
    const visitor = () =>
      new Promise((resolve) => {
        const next = () => {
          if (left-- <= 0) return resolve();
          this.#pool.request(hello, (status, body) => {
            if (status === 503) this.shed++;
            else if (status === 200 && body === 'hello world') this.answers++;
            else this.wrong ??= `the answer was ${status} ${body.slice(0, 60)}`;
            if (this.wrong === null) next();
            else resolve();
          });
        };
        next();
      });
    await Promise.all(Array.from({ length: this.#connections }, visitor));
  }

  close() {
    this.#pool.close();
  }
}
