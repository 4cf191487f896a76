/**
 * The load of the HTTP case: a number of connections that each send their next request when the answer to the last is there.
 * It takes answers as the server above makes them, which costs it less than a client for every server.
 */
import { connect } from 'node:net';
import { isRight } from './corpus.js';
import { bytesOf, counts } from './sizes.js';

const size = '4KB';
const bytes = bytesOf(size);
const endOfHead = Buffer.from('\r\n\r\n');

export class Visitors {
  answers = 0;
  wrong = null;
  #sockets = [];
  #stopped = false;

  constructor(port, connections) {
    for (let i = 0; i < connections; i++) this.#visit(port, i * 7);
  }

  #visit(port, first) {
    let number = first % counts[size];
    let held = null;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const ask = () => socket.write(`GET /${number} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    socket.once('connect', ask);
    socket.on('data', (chunk) => {
      held = held === null ? chunk : Buffer.concat([held, chunk]);
      const head = held.indexOf(endOfHead);
      if (head === -1 || held.length < head + endOfHead.length + bytes) return;
      const body = held.subarray(head + endOfHead.length);
      const isGood = held.latin1Slice(0, 12) === 'HTTP/1.1 200' && isRight(body, size, number);
      if (!isGood) this.wrong ??= `the answer to /${number} is not the file`;
      this.answers++;
      held = null;
      number = (number + 1) % counts[size];
      ask();
    });
    socket.on('error', (error) => {
      if (!this.#stopped) this.wrong ??= error.message;
    });
    this.#sockets.push(socket);
  }

  stop() {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
