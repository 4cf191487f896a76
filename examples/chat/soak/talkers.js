/** People who come, talk for a while and go, again and again; what broke before it was acknowledged they say again. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { Heard } from './ledger.js';

const ROOMS = 8;
const PAUSE_MS = 1000;
const STAY_MS = [4_000, 20_000];
const AGAIN_MS = 200;
const ANSWER_MS = 60_000;
const TURNED_AWAY = 'TURNED_AWAY';
/** Tries to get rid of what was not acknowledged, at the end. */
const TRIES = 10;

export const TALK_ROOMS = Array.from({ length: ROOMS }, (_, i) => `talk-${i}`);

const LEAVING = [
  (ws, room) => {
    ws.send(JSON.stringify({ t: 'leave', room }));
    ws.close();
  },
  (ws) => ws.close(),
  (ws) => ws.terminate(),
];

/**
 * Talker, whose texts are `sender/connection/number` and some filling, so that whoever hears them knows what comes next.
 */
export class Talker {
  #url;
  #name;
  #room;
  #random;
  #ledger;
  #disturbances;
  #connections = 0;
  /** Said, and broken off before it was acknowledged: how often, as the texts are made anew. */
  #unanswered = 0;

  /** @param {object} service `url`, `ledger`, `disturbances` */
  constructor({ url, ledger, disturbances }, { index, random, room = TALK_ROOMS[index % ROOMS] }) {
    this.#url = `${url.replace('http', 'ws')}/ws`;
    this.#name = `p${index}`;
    this.#room = room;
    this.#random = random;
    this.#ledger = ledger;
    this.#disturbances = disturbances;
  }

  /** Talks until the signal; then it waits for what is not acknowledged yet. */
  async live(signal) {
    for (let tries = 0; !signal.aborted || (this.#unanswered > 0 && tries < TRIES); ) {
      await sleep(AGAIN_MS * (0.5 + this.#random()));
      if (signal.aborted) tries += 1;
      const from = performance.now();
      try {
        await this.#stay(signal);
        this.#ledger.count('visits');
      } catch (error) {
        if (error.code === TURNED_AWAY) {
          this.#ledger.count('connections turned away');
          continue;
        }
        this.#ledger.count('broken connections');
        if (!this.#disturbances.between(from)) {
          this.#ledger.fault(`${this.#name}: ${error.message}, with no fault near`);
        }
      }
    }
    if (this.#unanswered > 0) {
      this.#ledger.fault(`${this.#name}: ${this.#unanswered} messages were never acknowledged`);
      this.#unanswered = 0;
    }
  }

  async #stay(signal) {
    const ws = new WebSocket(this.#url, { handshakeTimeout: ANSWER_MS });
    const stay = new Stay(ws, {
      ...{ room: this.#room, ledger: this.#ledger, disturbances: this.#disturbances },
      prefix: `${this.#name}/${this.#connections++}`,
    });
    try {
      await stay.joined;
      this.#ledger.count('said again', this.#unanswered);
      for (; this.#unanswered > 0; this.#unanswered--) stay.say(this.#random());
      const [least, most] = STAY_MS;
      const until = performance.now() + least + this.#random() * (most - least);
      while (performance.now() < until && !signal.aborted) {
        stay.say(this.#random());
        const pause = PAUSE_MS * (0.5 + this.#random());
        await Promise.race([sleep(pause, undefined, { signal }).catch(() => {}), stay.broken]);
      }
      await stay.answered();
      await stay.leave(LEAVING[Math.floor(this.#random() * LEAVING.length)]);
    } finally {
      this.#unanswered += stay.open;
      ws.terminate();
    }
  }
}

/** Connection, from the handshake to the end. */
class Stay {
  #ws;
  #room;
  #ledger;
  #prefix;
  #said = 0;
  #texts = new Map();
  #isLeaving = false;
  #idle = () => {};

  constructor(ws, { room, ledger, disturbances, prefix }) {
    Object.assign(this, { joined: undefined, broken: undefined });
    this.#ws = ws;
    this.#room = room;
    this.#ledger = ledger;
    this.#prefix = prefix;
    const heard = new Heard(ledger, disturbances);
    ws.once('open', () => ws.send(JSON.stringify({ t: 'join', room })));
    this.broken = new Promise((_, reject) => {
      // The guard answers so when the loop has no time for another connection.
      ws.once('unexpected-response', (request, { statusCode }) => {
        request.destroy();
        const error = new Error(`was answered with ${statusCode}`);
        reject(statusCode === 503 ? Object.assign(error, { code: TURNED_AWAY }) : error);
      });
      ws.on('error', reject);
      ws.once('close', (code) => {
        if (!this.#isLeaving) reject(new Error(`was closed with ${code}`));
      });
    });
    this.broken.catch(() => {});
    const joined = new Promise((resolve) => {
      ws.on('message', (data) => {
        const frame = JSON.parse(data);
        if (frame.t === 'joined') resolve();
        else if (frame.t === 'msg') heard.take(frame.text);
        else if (frame.t === 'ack') this.#acknowledged(frame);
        else if (frame.t === 'error') this.#refused(frame);
      });
    });
    this.joined = this.#within(joined, 'was not let in');
  }

  /** Messages without an answer. */
  get open() {
    return this.#texts.size;
  }

  say(random) {
    const ref = `${this.#said++}`;
    const text = `${this.#prefix}/${ref} ${'…'.repeat(1 + Math.floor(random * 200))}`;
    this.#texts.set(ref, text);
    this.#ledger.count('said');
    this.#ws.send(JSON.stringify({ t: 'msg', room: this.#room, text, ref }), () => {});
  }

  async answered() {
    if (this.open === 0) return;
    const idle = new Promise((resolve) => {
      this.#idle = resolve;
    });
    await this.#within(idle, 'has messages that were not acknowledged');
  }

  async leave(how) {
    this.#isLeaving = true;
    const gone = once(this.#ws, 'close');
    how(this.#ws, this.#room);
    await this.#within(gone, 'was not let go');
  }

  #acknowledged({ ref, id }) {
    this.#ledger.saved(id, this.#texts.get(ref));
    this.#settle(ref);
  }

  #refused({ ref, code, message }) {
    this.#ledger.count(`refused: ${code}`);
    this.#ledger.fault(`${this.#prefix} was told ${code}: ${message}`);
    this.#settle(ref);
  }

  #settle(ref) {
    this.#texts.delete(ref);
    if (this.open === 0) this.#idle();
  }

  async #within(work, what) {
    const timer = new AbortController();
    const late = sleep(ANSWER_MS, undefined, { signal: timer.signal }).then(
      () => Promise.reject(new Error(`${what} in ${ANSWER_MS / 1000} s`)),
      () => {},
    );
    try {
      return await Promise.race([work, late, this.broken]);
    } finally {
      timer.abort();
    }
  }
}
