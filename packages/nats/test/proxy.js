/** A network between a node and its broker, as a TCP proxy: it can be cut, healed, slowed and made to swallow everything. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * Passes connections to `port` on. It ends with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {number} port of the loopback
 * @returns {Promise<TcpProxy>}
 */
export async function proxy(t, port) {
  const made = new TcpProxy(port);
  t.after(() => made.close());
  await made.listen();
  return made;
}

class TcpProxy {
  #to;
  #server = createServer({ allowHalfOpen: true }, (socket) => this.#connected(socket));
  #pairs = new Set();
  #isCut = false;
  #isSilent = false;
  #delayMs = 0;
  #port = 0;

  constructor(to) {
    this.#to = to;
  }

  get url() {
    return `nats://127.0.0.1:${this.#port}`;
  }

  get port() {
    return this.#port;
  }

  async listen() {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = this.#server.address().port;
  }

  /** Ends every connection, and every one that is tried, until `heal()`. */
  cut() {
    this.#isCut = true;
    for (const pair of this.#pairs) end(pair);
  }

  /** Passes nothing on any more, and says nothing of it, as when a cable is pulled out; until `heal()`. What was on its way is kept. */
  blackhole() {
    this.#isSilent = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** What the server says stays here; what is said to it arrives. Until `heal()`, or lost with `cut()`. */
  mute() {
    for (const [, far] of this.#pairs) far.pause();
  }

  /** Connections from before a `blackhole()` or `mute()` go on where they were. */
  heal() {
    this.#isCut = false;
    this.#isSilent = false;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  /** Everything takes so many ms longer, each way. */
  delay(ms) {
    this.#delayMs = ms;
  }

  async close() {
    this.cut();
    this.#server.close();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  #connected(socket) {
    if (this.#isCut) {
      socket.on('error', () => {});
      socket.destroy();
      return;
    }
    const pair = [socket, connect({ port: this.#to, host: '127.0.0.1', allowHalfOpen: true })];
    this.#pairs.add(pair);
    const [near, far] = pair;
    this.#pass(pair, near, far);
    this.#pass(pair, far, near);
  }

  #pass(pair, from, to) {
    from.setNoDelay(true);
    if (this.#isSilent) from.pause();
    from.on('data', (bytes) => {
      const pass = () => {
        if (to.writable && !to.write(bytes)) {
          from.pause();
          to.once('drain', () => this.#isSilent || from.resume());
        }
      };
      if (this.#delayMs === 0) pass();
      else setTimeout(pass, this.#delayMs);
    });
    from.on('end', () => to.end());
    from.on('error', () => end(pair));
    from.on('close', () => this.#pairs.delete(pair));
  }
}

function end(pair) {
  for (const socket of pair) {
    socket.on('error', () => {});
    // Not resetAndDestroy(): with an end() under way it leaves the handle open.
    socket.destroy();
  }
}
