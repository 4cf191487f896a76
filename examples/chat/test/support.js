import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { runProgram, startProgram } from '../../../scripts/lib/program-tests.js';
import { startChat } from '../app.js';

/** Every feature is tested over these. */
export const ARMS = ['direct', 'adaptive'];

const PATIENCE_MS = 300_000;
/** A database that is slow is no outage here, and commits are waited for. */
const LIMITS = { storageTimeoutMs: 60_000, stopMs: 60_000 };
const SERVER = fileURLToPath(new URL('../server.js', import.meta.url));

/** A chat in this process on a free port; closed when the test ends. */
export async function start(t, options) {
  const chat = await startChat({
    floodLimit: 0,
    ...options,
    limits: { ...LIMITS, ...options?.limits },
  });
  t.after(() => chat.close());
  await chat.ready;
  return chat;
}

/** A chat as a process of its own, stopped when the test ends if it is still there. */
export const startProcess = (t, args) =>
  startProgram(t, [SERVER, '--port', '0', ...args], { DATABASE_URL: '', BROKER_URL: '' });

/** Runs it with arguments that make it end by itself. */
export const runToEnd = (args) => runProgram([SERVER, ...args]);

/** A person at a WebSocket: keeps every frame, hands them out in order. */
export class Client {
  frames = [];
  #waiting = [];

  /** Connects, reads the hello; closed when the test ends. */
  static async connect(t, url, { name, session, headers } = {}) {
    const address = new URL('/ws', url.replace(/^http/, 'ws'));
    if (name !== undefined) address.searchParams.set('name', name);
    if (session !== undefined) address.searchParams.set('session', session);
    const client = new Client();
    client.ws = new WebSocket(address, { headers });
    client.closed = new Promise((resolve) => {
      client.ws.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
    client.ws.on('message', (data) => client.#take(JSON.parse(data)));
    t.after(async () => {
      client.ws.terminate();
      await client.closed;
    });
    await once(client.ws, 'open');
    client.hello = await client.next('hello');
    client.name = client.hello.name;
    return client;
  }

  send(frame) {
    this.ws.send(
      typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame),
    );
  }

  async join(room) {
    this.send({ t: 'join', room });
    return this.next('joined', (frame) => frame.room === room);
  }

  say(room, text, ref) {
    this.send({ t: 'msg', room, text, ref });
  }

  /** The next frame of this type that matches; earlier frames of other kinds stay for later calls. */
  next(type, matches = () => true) {
    const wanted = (frame) => frame.t === type && matches(frame);
    const at = this.frames.findIndex(wanted);
    if (at >= 0) return Promise.resolve(this.frames.splice(at, 1)[0]);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const seen = JSON.stringify(this.frames).slice(0, 500);
        reject(new Error(`${this.name ?? 'client'} waited in vain for ${type}; unread: ${seen}`));
      }, PATIENCE_MS);
      this.#waiting.push({
        wanted,
        take(frame) {
          clearTimeout(timer);
          resolve(frame);
        },
      });
    });
  }

  /** Everything sent to this client so far has arrived: the answer to a question of our own came after it. */
  async settled() {
    const ref = `settled-${Math.random()}`;
    this.send({ t: 'nonsense', ref });
    await this.next('error', (frame) => frame.ref === ref);
  }

  #take(frame) {
    const at = this.#waiting.findIndex(({ wanted }) => wanted(frame));
    if (at < 0) this.frames.push(frame);
    else this.#waiting.splice(at, 1)[0].take(frame);
  }
}

/** A request with a JSON answer. */
export async function request(url, path, options) {
  const response = await fetch(url + path, options);
  const type = response.headers.get('content-type') ?? '';
  const body = type.includes('json') ? await response.json() : await response.text();
  return { status: response.status, headers: response.headers, body };
}

export function postJson(url, path, value, headers) {
  return request(url, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof value === 'string' ? value : JSON.stringify(value),
  });
}
