import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { deck, files, replies, rooms, welcomes } from './talk.js';

/** Birds, and marked: nobody should take them for people. */
const NAMES = ['wren', 'heron', 'plover', 'siskin', 'avocet', 'dipper'].map(
  (bird) => `${bird}-sim`,
);

const PAUSE_MS = 11_000; // of one person between two messages, on average
const ARRIVE_MS = 500;
const RETURN_MS = 4000;
const TYPING_MS_PER_LETTER = 35;
const REPLY_SHARE = 0.3;
const UPLOAD_EVERY = 12; // messages of one person
const MOVE_EVERY = 8;
const MAX_UPLOADS = 50;

/**
 * Fills a chat with a little life: some simulated people who come and go, type, talk, answer who is
 * not simulated, and now and then upload a small text file. About one message in two seconds.
 *
 * @param {string} url of the chat
 * @returns {{ count: number, stop: () => Promise<void> }} `stop` resolves when all have left
 */
export function startPeople(url) {
  const leaving = new AbortController();
  const talk = {
    say: Object.fromEntries(Object.entries(rooms).map(([room, lines]) => [room, deck(lines)])),
    reply: deck(replies),
    welcome: deck(welcomes),
    file: deck(files),
    uploads: 0,
  };
  const lives = NAMES.map((name, index) => new Person(name, index, url, talk).live(leaving.signal));
  return {
    count: NAMES.length,
    async stop() {
      leaving.abort();
      await Promise.all(lives);
    },
  };
}

class Person {
  #name;
  #index;
  #url;
  #talk;
  #ws;
  #session;
  #rooms;
  /** Rooms where somebody else has spoken last, as far as this person has heard. */
  #heard = new Set();
  /** Somebody who is not simulated has spoken here and waits for an answer. */
  #asked = null;

  constructor(name, index, url, talk) {
    this.#name = name;
    this.#index = index;
    this.#url = url;
    this.#talk = talk;
  }

  /** Comes, talks, and comes back after having been cut off, until the signal. */
  async live(signal) {
    try {
      await sleep(this.#index * ARRIVE_MS, undefined, { signal });
      while (!signal.aborted) {
        await this.#visit(signal).catch(() => {}); // a chat that has gone is told by who runs it
        await sleep(RETURN_MS, undefined, { signal });
      }
    } catch {
      // the signal
    }
  }

  async #visit(signal) {
    const address = new URL(`/ws?name=${this.#name}`, this.#url.replace(/^http/, 'ws'));
    const ws = new WebSocket(address);
    const gone = new AbortController();
    const closed = new Promise((resolve) => ws.once('close', resolve));
    closed.then(() => gone.abort());
    ws.on('error', () => {}); // and then it closes
    const leave = () => ws.terminate();
    signal.addEventListener('abort', leave, { once: true });
    try {
      this.#ws = ws;
      ws.on('message', (data) => this.#hear(JSON.parse(data)));
      await once(ws, 'open', { signal: gone.signal });
      const others = deck(Object.keys(rooms).slice(1));
      this.#rooms = ['lobby', others(), ...(this.#index % 2 ? [others()] : [])];
      for (const room of this.#rooms) this.#send({ t: 'join', room });
      await this.#talkOn(gone.signal);
    } finally {
      signal.removeEventListener('abort', leave);
      ws.terminate();
      await closed;
    }
  }

  async #talkOn(signal) {
    // The first upload comes soon, and not from all at once.
    for (let count = this.#index * 2; ; count += 1) {
      await this.#pause(signal);
      const room = this.#asked ?? this.#rooms[Math.floor(Math.random() * this.#rooms.length)];
      const text = this.#line(room);
      this.#asked = null;
      await this.#type(room, text, signal);
      if (count % UPLOAD_EVERY === UPLOAD_EVERY - 1) await this.#upload(room, signal);
      if (count % MOVE_EVERY === MOVE_EVERY - 1) this.#move();
    }
  }

  /** Random, and cut short when somebody has asked. */
  async #pause(signal) {
    const end = performance.now() - Math.log(1 - Math.random()) * PAUSE_MS;
    do await sleep(500, undefined, { signal });
    while (performance.now() < end && this.#asked === null);
  }

  #line(room) {
    if (this.#asked !== null) return this.#talk.welcome();
    return this.#heard.delete(room) && Math.random() < REPLY_SHARE
      ? this.#talk.reply()
      : this.#talk.say[room]();
  }

  async #type(room, text, signal) {
    this.#send({ t: 'typing', room, on: true });
    await sleep(1000 + text.length * TYPING_MS_PER_LETTER, undefined, { signal });
    this.#send({ t: 'typing', room, on: false });
    this.#send({ t: 'msg', room, text });
  }

  async #upload(room, signal) {
    if (this.#talk.uploads >= MAX_UPLOADS) return;
    this.#talk.uploads += 1;
    const [name, body] = this.#talk.file();
    const answer = await fetch(new URL(`/api/rooms/${room}/files?name=${name}`, this.#url), {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#session}`, 'content-type': 'text/plain' },
      body,
      signal,
    });
    await answer.body?.cancel();
  }

  /** Leaves one room for another; everybody stays in the first. */
  #move() {
    const next = Object.keys(rooms).find((room) => !this.#rooms.includes(room));
    if (next === undefined) return;
    const [left] = this.#rooms.splice(1, 1);
    this.#send({ t: 'leave', room: left });
    this.#rooms.push(next);
    this.#send({ t: 'join', room: next });
  }

  #hear({ t, session, id, from, room }) {
    if (t === 'hello') this.#session = session;
    // One answers, and who that is follows from the message.
    if (t === 'msg' && from !== this.#name) this.#heard.add(room);
    if (t !== 'msg' || NAMES.includes(from) || id % NAMES.length !== this.#index) return;
    if (this.#rooms.includes(room)) this.#asked = room;
  }

  #send(frame) {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(JSON.stringify(frame));
  }
}
