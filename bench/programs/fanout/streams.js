/**
 * Round of a server of event streams: 500 readers of one room, and a publisher that has some messages under way at any time, the next
 * one following when all readers have one. Each reader counts its events; one of them checks each of its bytes.
 */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CpuClock } from '../../lib/cpu.js';
import { startServer } from '../../lib/load.js';
import { Refused } from '../../lib/refused.js';

const readers = 500;
/** Messages under way: as many as a room of the case `500x10 closed` has. */
const inFlight = 50;
const textBytes = 100;

const request = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n';
const textOf = (n) => `${n} `.padEnd(textBytes, 'x');

export async function measureStreams(server, { warmup, seconds }) {
  const { pid, port, died, ask, stop } = await startServer(server);
  const sockets = [];
  const open = (more, onBytes) => openSocket(port, more, onBytes, sockets);
  try {
    const crowd = new Crowd();
    for (let at = 0; at < readers; at += 50) {
      const some = Array.from({ length: 50 }, (_, n) => open('\r\n', crowd.reader(at + n === 0)));
      await Promise.race([Promise.all(some), died]);
    }
    const publisher = await open('Connection: Upgrade\r\nUpgrade: lines\r\n\r\n', () => {});
    crowd.start((text) => publisher.write(text));
    const cpu = new CpuClock(pid);
    await Promise.race([sleep(warmup * 1000), died]);
    const from = { cpu: cpu.read(), count: crowd.deliveries, at: performance.now() };
    await Promise.race([sleep(seconds * 1000), died]);
    const [used, count] = [cpu.read() - from.cpu, crowd.deliveries - from.count];
    const measured = (performance.now() - from.at) / 1000;
    crowd.stop();
    await Promise.race([crowd.drained, died]);
    const stats = await ask('stats');
    if (crowd.fault !== null || stats.deliveries !== crowd.deliveries) {
      throw new Refused(
        `of ${stats.deliveries} events ${crowd.deliveries} came${crowd.fault ?? ''}`,
      );
    }
    return { msgs_per_s: count / measured, cpu_us_per_msg: used / count, stats };
  } finally {
    for (const socket of sockets) socket.destroy();
    await stop();
  }
}

/** Buffer for the reads of all sockets, each of which is dealt with before the next one. */
const buffer = Buffer.allocUnsafe(64 * 1024);

/** Resolves to the socket when the headers of the response have come; `onBytes` gets what follows. */
function openSocket(port, more, onBytes, sockets) {
  return new Promise((resolve, reject) => {
    let isOpen = false;
    const callback = (length) => {
      const bytes = buffer.subarray(0, length);
      if (isOpen) {
        onBytes(bytes);
        return;
      }
      // They are one write of the server, and so small that they come in one read.
      isOpen = true;
      onBytes(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
      resolve(socket);
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } });
    sockets.push(socket);
    socket.write(request + more);
    socket.on('error', reject);
  });
}

class Crowd {
  deliveries = 0;
  fault = null;
  #drain;
  drained = new Promise((resolve) => {
    this.#drain = resolve;
  });
  #send = null;
  #published = 0;
  /** Number of readers that have not got it, by message under way. */
  #waiting = [];
  /** The first of them. */
  #first = 0;

  start(send) {
    this.#send = send;
    for (let n = 0; n < inFlight; n++) this.#publish();
  }

  stop() {
    this.#send = null;
  }

  #publish() {
    this.#waiting.push(readers);
    this.#send(`${textOf(this.#published++)}\n`);
  }

  /** Takes the bytes of one reader: an event ends with an empty line. */
  reader(isChecked) {
    let count = 0;
    let wasLine = false;
    const check = isChecked ? checker((fault) => (this.fault ??= fault)) : null;
    return (bytes) => {
      if (bytes.length === 0) return;
      let from = 0;
      if (wasLine && bytes[0] === 10) {
        this.#got(count++);
        from = 1;
      }
      for (let at = bytes.indexOf('\n\n', from); at >= 0; at = bytes.indexOf('\n\n', at + 2)) {
        this.#got(count++);
        from = at + 2;
      }
      wasLine = bytes.length > from && bytes[bytes.length - 1] === 10;
      check?.(bytes);
    };
  }

  #got(message) {
    this.deliveries++;
    const left = --this.#waiting[message - this.#first];
    if (left > 0) return;
    while (this.#waiting[0] === 0) {
      this.#waiting.shift();
      this.#first++;
      if (this.#send !== null) this.#publish();
    }
    if (this.#send === null && this.#waiting.length === 0) this.#drain();
  }
}

/** Reads chunks of HTTP, and tells of an event that is not the next one. */
function checker(tell) {
  let text = '';
  let body = '';
  let next = 0;
  return (bytes) => {
    text += bytes.toString('latin1');
    for (;;) {
      const end = text.indexOf('\r\n');
      const size = Number.parseInt(text, 16);
      if (end < 0 || text.length < end + 4 + size) break;
      body += text.slice(end + 2, end + 2 + size);
      text = text.slice(end + 4 + size);
    }
    for (let end = body.indexOf('\n\n'); end >= 0; end = body.indexOf('\n\n')) {
      if (body.slice(0, end) !== `data: ${textOf(next)}`)
        tell(`, and event ${next} is another one`);
      next++;
      body = body.slice(end + 2);
    }
  };
}
