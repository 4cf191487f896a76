/** A client of HTTP/1.1 that costs little, so that thousands of answers a second are not a strain. */
import { connect } from 'node:net';

const endOfHead = Buffer.from('\r\n\r\n');

export const get = (path, headers = {}) =>
  Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );

/** Connection that takes one request at a time. */
class Connection {
  #socket;
  #held = null;
  #answered = null;
  /** True if it can take the next request. */
  open = true;

  constructor(port) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.connected = new Promise((resolve) => this.#socket.once('connect', resolve));
    this.#socket.on('data', (chunk) => this.#read(chunk));
    // What was wrong does not matter: the answer is missing.
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => this.#end());
  }

  /** @param {(status: number, body: string) => void} answered status 0: there was no answer */
  send(request, answered) {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close() {
    this.#socket.destroy();
  }

  #end() {
    this.open = false;
    const answered = this.#answered;
    this.#answered = null;
    answered?.(0, '');
  }

  #read(chunk) {
    this.#held = this.#held === null ? chunk : Buffer.concat([this.#held, chunk]);
    const head = this.#held.indexOf(endOfHead);
    if (head === -1) return;
    const text = this.#held.latin1Slice(0, head);
    const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0);
    const begin = head + endOfHead.length;
    if (this.#held.length < begin + length) return;
    const body = this.#held.latin1Slice(begin, begin + length);
    this.#held = null;
    if (/connection: *close/i.test(text)) {
      this.open = false;
      this.#socket.destroy();
    }
    const answered = this.#answered;
    this.#answered = null;
    answered?.(Number(text.slice(9, 12)), body);
  }
}

/**
 * Client with as many connections as there are requests under way: one that is idle is used again, the latest
 * first, and where there is none a new one is made. With `keepAlive` false every request has its own.
 */
export class Pool {
  #port;
  #keepAlive;
  #all = new Set();
  #idle = [];

  constructor(port, { keepAlive = true } = {}) {
    this.#port = port;
    this.#keepAlive = keepAlive;
  }

  request(bytes, answered) {
    const connection = this.#take();
    connection.send(bytes, (status, body) => {
      if (!this.#keepAlive) connection.close();
      else if (connection.open) this.#idle.push(connection);
      if (!this.#keepAlive || !connection.open) this.#all.delete(connection);
      answered(status, body);
    });
  }

  /** Opens this many connections before anything is asked. */
  async connect(count) {
    const connections = Array.from({ length: count }, () => this.#make());
    await Promise.all(connections.map(({ connected }) => connected));
    this.#idle.push(...connections);
  }

  close() {
    for (const connection of this.#all) connection.close();
  }

  #make() {
    const connection = new Connection(this.#port);
    this.#all.add(connection);
    return connection;
  }

  #take() {
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined) break;
      // The other side may have closed it meanwhile.
      if (connection.open) return connection;
      this.#all.delete(connection);
    }
    return this.#make();
  }
}
