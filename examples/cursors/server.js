/**
 * The server: a page, and three WebSockets and an event stream that show the same cursors. `/live`, `/slow` and `/events`, the stream, are one
 * room whose messages have keys; `/past` is a room of messages without keys. `/slow` and `/past` go through a relay that passes on as
 * little as a slow connection.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Rooms } from 'millrace/ws';
import { WebSocketServer } from 'ws';
import { Cursors, frameBytes } from './cursors.js';
import { relay } from './relay.js';

const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
};
const room = 'cursors';
/** Moves of this many ms leave together. */
const maxDelay = 50;
/** Interval in ms at which cursors move. */
const stepMs = 10;

export class CursorServer {
  /** Messages with a key: of each cursor a reader gets the latest one. */
  conflated = new Rooms({ policy: 'fixed', maxDelay });
  /** Rooms without keys: a slow reader gets all moves, later and later, until it is closed. */
  plain = new Rooms({ policy: 'fixed', maxDelay, maxPending: 64 * 1024 * 1024 });
  #cursors;
  #rate;
  #http = createServer((request, response) => void this.#page(request, response));
  #wss = new WebSocketServer({ noServer: true });
  #slowBytes;
  #timer = null;

  /** `rate`: moves a second; `slow`: how many times slower a slow reader is. */
  constructor({ cursors, rate, slow }) {
    this.#cursors = new Cursors(cursors);
    this.#rate = rate;
    this.#slowBytes = Math.max(1, Math.round((rate * frameBytes) / slow));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  async listen(port) {
    this.#http.listen(port, '127.0.0.1');
    await once(this.#http, 'listening');
    return this.#http.address().port;
  }

  /** Begins to move the cursors. */
  start() {
    let moved = Date.now();
    let due = 0;
    this.#timer = setInterval(() => {
      const now = Date.now();
      // After a stall it does not make up for what nobody would have seen.
      due += (Math.min(100, now - moved) * this.#rate) / 1000;
      moved = now;
      for (; due >= 1; due--) this.move(now);
    }, stepMs);
  }

  /** Publishes the move of one cursor. */
  move(now) {
    const message = this.#cursors.move(now);
    const key = message.readUInt16BE(0);
    this.conflated.publish(room, message, { key });
    if (this.plain.size(room) > 0) this.plain.publish(room, message);
  }

  async close() {
    clearInterval(this.#timer);
    for (const rooms of [this.conflated, this.plain]) rooms.close();
    for (const socket of this.#wss.clients) socket.terminate();
    this.#http.close();
    this.#http.closeAllConnections();
    if (this.#http.listening) await once(this.#http, 'close');
  }

  #upgrade(request, socket, head) {
    const { port } = this.#http.address();
    const rooms = { '/live': this.conflated, '/slow': this.conflated, '/past': this.plain };
    const [path, through] = request.url.split('?');
    if (!(path in rooms)) {
      socket.destroy();
      return;
    }
    // A slow one comes in twice: from the page, and from the relay.
    if (path !== '/live' && through !== 'relayed') {
      relay({ request, socket, head, port, bytesPerSecond: this.#slowBytes });
      return;
    }
    this.#wss.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => {});
      rooms[path].join(ws, room);
    });
  }

  async #page({ url, method }, response) {
    if (url === '/events' && method === 'GET') {
      this.conflated.join(response, room);
      return;
    }
    const [name, type] = files[url] ?? [];
    if (name === undefined || method !== 'GET') {
      response.writeHead(404).end();
      return;
    }
    const body = await readFile(new URL(`public/${name}`, import.meta.url));
    response.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' }).end(body);
  }
}
