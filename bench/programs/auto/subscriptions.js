/** Clients of graphql-transport-ws with a subscription each. A request publishes the next value as soon as all of them have the last one. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { get, Pool } from '../../lib/http-client.js';

const query = 'subscription { price { number text } }';
const askAgainMs = 20;

export class Subscriptions {
  /** First error found; null: none. */
  wrong = null;
  #port;
  #pool;
  #clients = [];
  #number = 0;
  #missing = 0;
  #done = null;

  /** @param {number} connections */
  constructor(port, connections) {
    this.#port = port;
    this.#pool = new Pool(port);
    this.connections = connections;
  }

  async connect() {
    for (let n = 0; n < this.connections; n++) {
      const url = `ws://127.0.0.1:${this.#port}/graphql`;
      const client = new WebSocket(url, 'graphql-transport-ws', { perMessageDeflate: false });
      client.on('message', (data) => this.#read(client, `${n}`, JSON.parse(String(data))));
      client.on('close', () => {
        this.wrong ??= 'a client was closed';
        this.#done?.();
      });
      this.#clients.push(client);
      await once(client, 'open');
      client.send(JSON.stringify({ type: 'connection_init' }));
    }
    while ((await this.#ask('/subscribers')) !== `${this.connections}\n`) await sleep(askAgainMs);
  }

  /** Resolves when so many values more have come to clients, a multiple of the number of clients. */
  async run(frames) {
    for (let left = frames; left > 0 && this.wrong === null; left -= this.connections) {
      this.#missing = this.connections;
      const all = new Promise((resolve) => {
        this.#done = resolve;
      });
      await Promise.all([all, this.#ask('/publish')]);
      this.#number++;
    }
  }

  close() {
    this.#done = null;
    for (const client of this.#clients) client.removeAllListeners('close').terminate();
    this.#pool.close();
  }

  #ask(path) {
    return new Promise((resolve) => {
      this.#pool.request(get(path), (status, body) => {
        if (status !== 200) this.wrong ??= `the answer to ${path} was ${status}`;
        if (this.wrong !== null) this.#done?.();
        resolve(body);
      });
    });
  }

  #read(client, id, { type, id: forId, payload }) {
    if (type === 'connection_ack') {
      client.send(JSON.stringify({ id, type: 'subscribe', payload: { query } }));
      return;
    }
    const number = payload?.data?.price.number;
    if (type !== 'next' || forId !== id || number !== this.#number) {
      this.wrong ??= `client ${id} got ${type} ${number} for ${forId}`;
    }
    if (--this.#missing === 0 || this.wrong !== null) this.#done?.();
  }
}
