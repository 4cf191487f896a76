/** Link between the soak and the processes that it watches: each connects to it, says who it is, and answers questions. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '@millrace/lab/run';

const ANSWER_MS = 30_000;

/** The processes that have preload.js, as long as they live. */
export class Links {
  #server;
  #links = new Map();

  /** @param {string} path of a Unix domain socket that is not there yet */
  static async listen(path) {
    const links = new Links();
    links.#server = createServer((socket) => links.#take(socket)).listen(path);
    await once(links.#server, 'listening');
    return links;
  }

  #take(socket) {
    let link;
    socket.on('error', () => {});
    const lines = createInterface({ input: socket });
    // It emits the errors of its input again: a process that is killed before it has read a question resets the connection.
    lines.on('error', () => {});
    lines.on('line', (line) => {
      const told = JSON.parse(line);
      if (link) return link.answered(told);
      link = new Link(socket, told);
      this.#links.set(link.pid, link);
    });
    socket.once('close', () => {
      if (link && this.#links.get(link.pid) === link) this.#links.delete(link.pid);
      link?.gone();
    });
  }

  /** @returns {Link | undefined} */
  of(pid) {
    return this.#links.get(pid);
  }

  get primary() {
    return [...this.#links.values()].find(({ role }) => role === 'primary');
  }

  close() {
    for (const link of this.#links.values()) link.end();
    this.#server.close();
  }
}

class Link {
  #socket;
  #asked = new Map();
  #number = 0;
  #gone = Promise.withResolvers?.() ?? resolvers();

  constructor(socket, { pid, role }) {
    this.#socket = socket;
    Object.assign(this, { pid, role });
    this.#gone.promise.catch(() => {});
  }

  /** @returns {Promise<any>} rejects when the process ends before it has answered */
  async ask(question, options) {
    const number = this.#number++;
    const answered = new Promise((resolve) => this.#asked.set(number, resolve));
    this.#socket.write(`${JSON.stringify({ number, question, ...options })}\n`);
    const timer = new AbortController();
    const late = sleep(ANSWER_MS, undefined, { signal: timer.signal }).then(
      () =>
        Promise.reject(
          new LabError('MILLRACE_LAB_E_SERVER', `${this.role} ${this.pid} does not answer`),
        ),
      () => {},
    );
    try {
      const { answer, error } = await Promise.race([answered, late, this.#gone.promise]);
      if (error !== undefined) throw new LabError('MILLRACE_LAB_E_SERVER', error);
      return answer;
    } finally {
      timer.abort();
      this.#asked.delete(number);
    }
  }

  answered({ number, ...told }) {
    this.#asked.get(number)?.(told);
  }

  gone() {
    this.#gone.reject(new LabError('MILLRACE_LAB_E_SERVER', `${this.role} ${this.pid} has ended`));
  }

  end() {
    this.#socket.destroy();
  }
}

// Node.js 20 has no Promise.withResolvers().
function resolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}
