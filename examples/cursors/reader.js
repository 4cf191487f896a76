/**
 * A reader of WebSocket frames on a plain socket, which can be as slow as it is told. It takes messages in their order, answers a
 * ping when it comes to it, and reads no more ahead than a few messages.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

const [PING, PONG] = [9, 10];

export class Reader {
  /** Messages that have been taken. */
  count = 0;
  #socket;
  #onMessage;
  #rest = Buffer.alloc(0);
  /** Messages that may be taken now. */
  #allowed;
  #isPaused = false;

  /** `slow`: takes only what `allow()` lets it; `onMessage` gets each message, null: they are only counted. */
  constructor({ slow = false, onMessage = null }) {
    this.#allowed = slow ? 0 : Number.POSITIVE_INFINITY;
    this.#onMessage = onMessage;
  }

  async connect(port, path) {
    const isSlow = this.#allowed === 0;
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      onread: {
        buffer: Buffer.alloc(isSlow ? 256 : 64 * 1024),
        callback: (bytes, buffer) => this.#read(buffer.subarray(0, bytes)),
      },
    });
    this.#socket.on('error', () => {});
    const key = randomBytes(16).toString('base64');
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await new Promise((resolve, reject) => {
      this.#opened = resolve;
      once(this.#socket, 'close').then(() => reject(new Error('the server closed a connection')));
    });
  }

  #opened = null;

  /** Lets a slow reader take so many messages more. */
  allow(messages) {
    // Time that it has not used is not made up for.
    this.#allowed = Math.max(this.#allowed, messages);
    if (this.#take() && this.#isPaused) {
      this.#isPaused = false;
      this.#socket.resume();
    }
  }

  close() {
    this.#socket.destroy();
  }

  #read(bytes) {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    if (this.#opened !== null) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return true;
      if (!this.#rest.toString('latin1', 0, 12).endsWith('101')) throw new Error('no WebSocket');
      this.#rest = this.#rest.subarray(end + 4);
      this.#opened();
      this.#opened = null;
    }
    this.#isPaused = !this.#take();
    return !this.#isPaused;
  }

  /** Takes messages; false when it must not take more now. */
  #take() {
    const rest = this.#rest;
    let at = 0;
    while (rest.length - at >= 2) {
      const code = rest[at] & 15;
      const short = rest[at + 1] & 127;
      const head = short < 126 ? 2 : 4;
      if (rest.length - at < head) break;
      const end = at + head + (short < 126 ? short : rest.readUInt16BE(at + 2));
      if (rest.length < end) break;
      if (code === PING) {
        this.#answer(rest.subarray(at + head, end));
      } else {
        if (this.#allowed < 1) break;
        this.#allowed--;
        this.count++;
        this.#onMessage?.(rest.subarray(at + head, end));
      }
      at = end;
    }
    this.#rest = rest.subarray(at);
    return this.#allowed >= 1;
  }

  /** A frame of a client is masked; with zeros it is what it was. */
  #answer(data) {
    this.#socket.write(
      Buffer.concat([Buffer.from([128 | PONG, 128 | data.length, 0, 0, 0, 0]), data]),
    );
  }
}
