/** A socket.io server on loopback and its clients, once with the in-memory adapter and once with ours. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { millraceAdapter } from 'millrace/ws';
import { Server } from 'socket.io';
import { io as connect } from 'socket.io-client';

export const transports = ['websocket', 'polling'];

/** Three minutes: what is limited takes as long as a busy machine needs, and no heartbeat comes in between. */
export const longMs = 180_000;
/** Options of a server whose limits nothing reaches. */
const patient = {
  connectTimeout: longMs,
  upgradeTimeout: longMs,
  pingInterval: longMs,
  pingTimeout: longMs,
};

/** A client, its socket on the server, and what it has received: `[event, ...arguments]` in order. */
export class Guest {
  received = [];
  #waiting = [];

  constructor(client, name) {
    this.client = client;
    this.name = name;
    client.onAny((...message) => this.note(message));
  }

  note(message) {
    // Acknowledgements are answered with the name.
    if (typeof message.at(-1) === 'function') message.pop()(this.name);
    this.received.push(message);
    this.#waiting = this.#waiting.filter((check) => !check());
  }

  /** The net or TLS socket on the server's side of a WebSocket. */
  get socket() {
    return this.server.conn.transport.socket._socket;
  }

  /** Resolves when the client has received something for which `done(received)` holds. */
  until(done) {
    return new Promise((resolve) => {
      const check = () => {
        if (!done(this.received)) return false;
        resolve();
        return true;
      };
      if (!check()) this.#waiting.push(check);
    });
  }

  /** Resolves when the client has received what the server has emitted until it hears of this. */
  fence() {
    return new Promise((resolve) => this.client.emit('fence', resolve));
  }

  /** What the client has received since the last call, with everything that has been emitted to it. */
  async take() {
    await this.fence();
    return this.received.splice(0);
  }
}

export class House {
  guests = {};

  constructor(httpServer, io, transport) {
    this.httpServer = httpServer;
    this.io = io;
    this.transport = transport;
  }

  get url() {
    const scheme = this.httpServer.setSecureContext === undefined ? 'http' : 'https';
    return `${scheme}://127.0.0.1:${this.httpServer.address().port}`;
  }

  /** A connected client. `options`: of socket.io-client, and `namespace` and `name`. */
  async connect({ namespace = '/', name = '', ...options } = {}) {
    const client = connect(this.url + namespace, {
      transports: [this.transport],
      forceNew: true,
      reconnection: false,
      timeout: longMs,
      ...options,
    });
    const guest = new Guest(client, name);
    this.guests[name] = guest;
    await once(client, 'connect');
    guest.server = await this.socket(namespace, client.id);
    guest.server.on('fence', (answer) => answer());
    return guest;
  }

  /** The server's socket of a client, which may hear of its connection before the server's listeners do. */
  async socket(namespace, id) {
    const nsp = this.io.of(namespace);
    while (!nsp.sockets.has(id)) await turn();
    return nsp.sockets.get(id);
  }

  /** One client for each name, in this order. */
  async connectAll(names, options) {
    const guests = [];
    for (const name of names) guests.push(await this.connect({ name, ...options }));
    return guests;
  }

  async close() {
    for (const { client } of Object.values(this.guests)) client.disconnect();
    await this.io.close();
  }
}

export async function open(
  t,
  { adapter, transport = 'websocket', server = createServer(), ...options } = {},
) {
  const io = new Server(server, { ...patient, ...options });
  // As an application does it; without, the server takes the in-memory adapter.
  if (adapter !== undefined) io.adapter(adapter);
  // Closing a client that polls leaves a timer of 30 s behind, which would keep the process.
  io.engine.on('connection', ({ transport }) => {
    transport.closeTimeout = 1000;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const house = new House(server, io, transport);
  t.after(() => house.close());
  return house;
}

/**
 * A test that plays a scenario on both adapters, over each transport: it must come to `expected` on both, which shows that
 * this is how the in-memory adapter behaves.
 */
export function same(name, { options = {}, only = transports, ...scenario }) {
  for (const transport of only) {
    for (const [adapterName, adapter] of Object.entries(adapters)) {
      test(`${name} (${transport}, ${adapterName})`, async (t) => {
        const house = await open(t, { ...options, transport, adapter: adapter() });
        assert.deepEqual(await scenario.play(house, t), scenario.expected);
      });
    }
  }
}

export const adapters = { 'in-memory': () => undefined, millrace: millraceAdapter };

/** Resolves in a later turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Runs each function in a tick of its own, all of them in one turn. */
export function inOneTurn(functions) {
  return Promise.all(
    functions.map(
      (run) =>
        new Promise((resolve, reject) => {
          setImmediate(() => {
            try {
              resolve(run());
            } catch (error) {
              reject(error);
            }
          });
        }),
    ),
  );
}

export const range = (n) => Array.from({ length: n }, (_, i) => i);

/** What each guest has received: `{ name: messages }`. */
export async function takeAll(guests) {
  const entries = [];
  for (const guest of guests) entries.push([guest.name, await guest.take()]);
  return Object.fromEntries(entries);
}
