/** A WebSocket server on loopback and its clients: what every test of rooms needs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

let fences = 0;
/** Three minutes, for sockets that close: a busy machine ends none early. */
const closeTimeout = 180_000;

/** Both ends of one connection, and what the client has received: text as a string, binary as a Buffer. */
export class Peer {
  received = [];
  errors = [];
  /** The close code that the client saw; null while it is open. */
  closeCode = null;
  #waiting = [];

  constructor(client) {
    this.client = client;
    this.server = null;
    client.on('message', (data, isBinary) => {
      this.received.push(isBinary ? data : data.toString());
      this.#waiting = this.#waiting.filter((check) => !check());
    });
    client.on('error', (error) => this.errors.push(error));
    this.closed = new Promise((resolve) => {
      client.on('close', (code) => {
        this.closeCode = code;
        resolve(code);
      });
    });
  }

  /** The net or TLS socket on the server's side. */
  get socket() {
    return this.server._socket;
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

  /** Resolves when the client has handled everything that has been written to it until now. Rooms send pings, too: this one has a mark. */
  fence() {
    const { server } = this;
    const mark = Buffer.from(`fence ${++fences}`);
    return new Promise((resolve) => {
      const onPong = (data) => {
        if (!mark.equals(data)) return;
        server.off('pong', onPong);
        resolve();
      };
      server.on('pong', onPong);
      server.ping(mark);
    });
  }

  /** What the client has received since the last call, once the turn's messages have arrived. */
  async take() {
    await turn();
    await this.fence();
    assert.deepEqual(this.errors, []);
    return this.received.splice(0);
  }

  /** The chunks of each write to the socket from now on, without changing what is written. */
  writes() {
    const chunks = [];
    const { socket } = this;
    const { write } = socket;
    socket.write = (chunk, ...rest) => {
      chunks.push(chunk);
      return write.call(socket, chunk, ...rest);
    };
    return chunks;
  }
}

export class Hall {
  peers = [];
  #expected = new Map();
  #count = 0;

  constructor(server, options) {
    this.httpServer = server;
    this.wss = new WebSocketServer({ server, closeTimeout, ...options });
    this.wss.on('connection', (ws, request) => {
      // A connection that fails shows in the test that uses it.
      ws.on('error', () => {});
      this.#expected.get(request.url)(ws);
      this.#expected.delete(request.url);
    });
  }

  get url() {
    const scheme = this.httpServer.setSecureContext === undefined ? 'ws' : 'wss';
    return `${scheme}://127.0.0.1:${this.httpServer.address().port}`;
  }

  async connect(options = {}) {
    const path = `/${this.#count++}`;
    const accepted = new Promise((resolve) => this.#expected.set(path, resolve));
    const peer = new Peer(new WebSocket(this.url + path, { closeTimeout, ...options }));
    this.peers.push(peer);
    await once(peer.client, 'open');
    peer.server = await accepted;
    return peer;
  }

  /** `count` connections, made 100 at a time so that the listen queue is never full. */
  async connectMany(count, options) {
    const peers = [];
    while (peers.length < count) {
      const some = Math.min(100, count - peers.length);
      peers.push(...(await Promise.all(Array.from({ length: some }, () => this.connect(options)))));
    }
    return peers;
  }

  async close() {
    for (const { client } of this.peers) client.terminate();
    for (const ws of this.wss.clients) ws.terminate();
    this.wss.close();
    this.httpServer.close();
    if (this.httpServer.listening) await once(this.httpServer, 'close');
    await Promise.all(this.peers.map(({ closed }) => closed));
  }
}

/** Starts a server that is closed, with its clients, after the test. */
export async function openHall(t, options = {}, server = createServer()) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hall = new Hall(server, options);
  t.after(() => hall.close());
  return hall;
}

/** Resolves after the dispatch point of this turn. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Numbers from 0 to n - 1. */
export const range = (n) => Array.from({ length: n }, (_, i) => i);

/** A generator of numbers from 0 (included) to 1 that gives the same ones for the same seed (mulberry32). */
export function randomFrom(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const filler = Buffer.alloc(64 * 1024);

/**
 * Stops the client from reading, and lets its socket on the server's side take no more than one write, whatever the kernel would take.
 * `peer.client.resume()` ends it.
 */
export function hold({ client, socket }) {
  let goOn = () => {};
  for (const name of ['_write', '_writev']) {
    socket[name] = (...args) => {
      goOn = () => socket[name](...args);
    };
  }
  client.pause();
  client.resume = () => {
    delete client.resume;
    delete socket._write;
    delete socket._writev;
    if (!socket.destroyed) goOn();
    client.resume();
  };
}

/** Holds, and fills the stream of the socket: what rooms publish from now on waits in their backlog until `peer.client.resume()`. */
export async function stall(peer) {
  hold(peer);
  while (!peer.socket.writableNeedDrain) {
    peer.server.send(filler);
    await turn();
  }
}

/** Lets a client that is closed for being slow read that for as long as it takes: rooms would end it after a second. */
export function untilRead({ server }) {
  server.terminate = () => {};
}

/** The text messages among what a peer has received. */
export const texts = (received) => received.filter((message) => typeof message === 'string');
