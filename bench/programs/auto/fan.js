/** Clients of ws, of which one has the server send a frame to each, as soon as all of them have the last one. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

const text = 'x'.repeat(100);

export class Fan {
  /** First error found; null: none. */
  wrong = null;
  #port;
  #clients = [];
  #missing = 0;
  #done = null;

  /** @param {number} connections */
  constructor(port, connections) {
    this.#port = port;
    this.connections = connections;
  }

  async connect() {
    for (let n = 0; n < this.connections; n++) {
      const client = new WebSocket(`ws://127.0.0.1:${this.#port}`, { perMessageDeflate: false });
      client.on('message', (data) => this.#read(n, String(data)));
      client.on('close', () => {
        this.wrong ??= 'a client was closed';
        this.#done?.();
      });
      this.#clients.push(client);
      await once(client, 'open');
    }
  }

  /** Resolves when so many frames more have come, a multiple of the number of clients. */
  async run(frames) {
    for (let left = frames; left > 0 && this.wrong === null; left -= this.connections) {
      this.#missing = this.connections;
      const all = new Promise((resolve) => {
        this.#done = resolve;
      });
      this.#clients[0].send(text);
      await all;
    }
  }

  close() {
    this.#done = null;
    for (const client of this.#clients) client.removeAllListeners('close').terminate();
  }

  #read(n, got) {
    if (got !== `0.${n}: ${text}`) this.wrong ??= `client ${n} got ${got.slice(0, 40)}`;
    if (--this.#missing === 0) this.#done();
  }
}
