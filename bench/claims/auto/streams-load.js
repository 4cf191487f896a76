/**
 * Readers of event streams, and publishers that post what all readers get. To read costs a fraction of what the server does: bytes
 * are counted. One reader parses its own; as all get the same writes, the others must have its number of bytes.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const PUBLISHERS = 50;
const TEXT_BYTES = 100;
/** Readers that connect at a time. */
const GROUP = 50;
/** Utilization of the loop that reads: from here on it is the limit itself. */
const BUSY = 0.9;
/** Ms between two looks at whether all has arrived, and looks without anything new after which nothing comes any more. */
const LOOK_MS = 10;
const LOOKS = 500;

/**
 * A load of the kind `script`. The readers of its warm-up stay for what is measured.
 *
 * @param {number} [rate] messages a second; default: a closed loop, with a message of each of 50 publishers under way
 */
export function streamLoad(rate) {
  const crowds = new Map();
  return async function load({ url, seconds, connections, signal, phase }) {
    const crowd = crowds.get(url) ?? new Crowd(url, signal);
    crowds.delete(url);
    try {
      await crowd.open(connections);
      const begun = performance.eventLoopUtilization();
      const { events, eventBytes, latencies } = await crowd.publish(seconds, rate);
      const { utilization } = performance.eventLoopUtilization(begun);
      const faults = [...crowd.faults];
      // In a closed loop a server that has to wait for the load does not pay for that.
      const isLimit = rate !== undefined && utilization > BUSY;
      if (isLimit) faults.push(`the load was the limit: it was busy for ${utilization}`);
      const answers = events * connections;
      return {
        work: [{ name: 'events', answers, status: { 200: answers }, bytes: eventBytes / events }],
        values: { load_utilization: utilization },
        latencies,
        isClosed: rate === undefined,
        faults,
      };
    } finally {
      if (phase === 'warmup') crowds.set(url, crowd);
      else crowd.destroy();
    }
  };
}

class Crowd {
  faults = new Set();
  #address;
  #host;
  #sockets = [];
  /** Bytes by reader. */
  #bytes = [];
  #parser = new EventParser((text) => this.#got(text));
  /** Publishers without a message under way. */
  #idle = [];
  /** Times at which messages were due, by number, until they arrive. */
  #due = new Map();
  #posted = 0;
  #arrived = 0;
  #latencies = [];
  #next = () => {};

  constructor(url, signal) {
    const { hostname, port, host } = new URL(url);
    this.#address = { host: hostname, port: Number(port) };
    this.#host = host;
    signal.addEventListener('abort', () => this.destroy(), { once: true });
  }

  destroy() {
    for (const socket of this.#sockets) socket.destroy();
  }

  async open(readers) {
    while (this.#bytes.length < readers) {
      const count = Math.min(GROUP, readers - this.#bytes.length);
      await Promise.all(Array.from({ length: count }, () => this.#openReader()));
    }
    while (this.#idle.length < PUBLISHERS) this.#idle.push(await this.#openPublisher());
  }

  /** Resolves when its headers are there. */
  #openReader() {
    const reader = this.#bytes.push(0) - 1;
    const parser = reader === 0 ? this.#parser : null;
    return new Promise((resolve) => {
      const callback = (length, buffer) => {
        this.#bytes[reader] += length;
        resolve();
        parser?.read(buffer.toString('latin1', 0, length));
      };
      const socket = this.#connect({ onread: { buffer: shared, callback } });
      socket.write(`GET /events HTTP/1.1\r\nhost: ${this.#host}\r\n\r\n`);
    });
  }

  async #openPublisher() {
    const socket = this.#connect({});
    await once(socket, 'connect');
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1');
      // It has no body.
      if (!answer.endsWith('\r\n\r\n')) return;
      if (!answer.startsWith('HTTP/1.1 204 ')) this.faults.add(answer.split('\r\n')[0]);
      answer = '';
      this.#idle.push(socket);
      this.#next();
    });
    return socket;
  }

  #connect(options) {
    const socket = connect({ ...this.#address, ...options });
    socket.on('error', ({ message }) => this.faults.add(message));
    this.#sockets.push(socket);
    return socket;
  }

  /** Publishes for so long, and waits until all of it has arrived at all readers. */
  async publish(seconds, rate) {
    const first = { posted: this.#posted, bytes: this.#parser.bodyBytes };
    this.#latencies = [];
    await (rate === undefined ? this.#closed(seconds) : this.#open(seconds, rate));
    await this.#settled();
    return {
      events: this.#posted - first.posted,
      eventBytes: this.#parser.bodyBytes - first.bytes,
      latencies: this.#latencies,
    };
  }

  async #closed(seconds) {
    this.#next = () => {
      while (this.#idle.length > 0 && this.#posted - this.#arrived < PUBLISHERS) {
        this.#post(performance.now());
      }
    };
    this.#next();
    await sleep(seconds * 1000);
    this.#next = () => {};
  }

  async #open(seconds, rate) {
    const start = performance.now();
    const waiting = [];
    this.#next = () => {
      while (this.#idle.length > 0 && waiting.length > 0) this.#post(waiting.shift());
    };
    for (let n = 0; n < Math.round(seconds * rate); n++) {
      const due = start + (n * 1000) / rate;
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      waiting.push(due);
      this.#next();
    }
    while (waiting.length > 0) await sleep(LOOK_MS);
  }

  #post(due) {
    const number = this.#posted++;
    this.#due.set(number, due);
    const head = `POST / HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-length: ${TEXT_BYTES}\r\n\r\n`;
    this.#idle.pop().write(`${head}${`${number} `.padEnd(TEXT_BYTES, 'x')}`);
  }

  #got(text) {
    const number = Number.parseInt(text, 10);
    const due = this.#due.get(number);
    if (due === undefined || text.length !== TEXT_BYTES) this.faults.add(`an event is ${text}`);
    this.#due.delete(number);
    this.#latencies.push(performance.now() - due);
    this.#arrived++;
    this.#next();
  }

  async #settled() {
    const missing = () =>
      this.#arrived < this.#posted || this.#bytes.some((bytes) => bytes !== this.#bytes[0]);
    let looks = 0;
    for (let seen = 0; missing() && looks < LOOKS; ) {
      await sleep(LOOK_MS);
      const sum = this.#bytes.reduce((a, b) => a + b, 0);
      looks = sum === seen ? looks + 1 : 0;
      seen = sum;
    }
    if (missing()) {
      const [least, most] = [Math.min, Math.max].map((of) => of(...this.#bytes));
      this.faults.add(`of ${this.#posted} events ${this.#arrived} came, bytes ${least} to ${most}`);
    }
  }
}

/** Buffer for the reads of all sockets, each of which is dealt with before the next one. */
const shared = Buffer.allocUnsafe(64 * 1024);

/** Reads a response in chunks of HTTP, and tells each event's data. */
class EventParser {
  bodyBytes = 0;
  #text = '';
  #body = '';
  #isOpen = false;
  #tell;

  constructor(tell) {
    this.#tell = tell;
  }

  read(text) {
    this.#text += text;
    if (!this.#isOpen) {
      const end = this.#text.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#text = this.#text.slice(end + 4);
      this.#isOpen = true;
    }
    for (;;) {
      const end = this.#text.indexOf('\r\n');
      const size = Number.parseInt(this.#text, 16);
      if (end < 0 || this.#text.length < end + 4 + size) break;
      this.#body += this.#text.slice(end + 2, end + 2 + size);
      this.#text = this.#text.slice(end + 4 + size);
      this.bodyBytes += size;
    }
    const events = this.#body.split('\n\n');
    this.#body = events.pop();
    for (const event of events) this.#tell(event.replace(/^data: /, ''));
  }
}
