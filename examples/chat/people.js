import { createHash, randomBytes, randomInt } from 'node:crypto';
import { ChatError } from './errors.js';
import { Bucket } from './flood.js';
import { limits } from './limits.js';
import { nameKey, parseName } from './names.js';

const SESSION = /^[\w-]{22}$/;

/**
 * People who are connected. A person has a nickname, unique on this server, and a session: a secret that only the client and
 * the server know, so that a client that reconnects gets its name and its rooms' moderation back.
 */
export class People {
  #byKey = new Map();
  #bySession = new Map();
  #floodPerSecond;

  constructor(floodPerSecond) {
    this.#floodPerSecond = floodPerSecond;
  }

  get size() {
    return this.#bySession.size;
  }

  /**
   * Takes a connection in. Never refuses: a bad or taken name gives a free one and a `problem` to tell.
   * @returns {{person, replaced, problem}} `replaced` is the person's former connection, if it was still open
   */
  arrive(ws, wantedName, wantedSession) {
    const session = SESSION.test(wantedSession ?? '')
      ? wantedSession
      : randomBytes(16).toString('base64url');
    const replaced = this.#bySession.get(session);
    if (replaced) this.depart(replaced);

    let problem = null;
    let name = null;
    if (wantedName !== null) {
      try {
        name = parseName(wantedName);
      } catch (error) {
        problem = error;
      }
    }
    name ??= this.#guestName();
    if (this.#byKey.has(nameKey(name))) {
      const free = this.#freeName(name);
      problem = new ChatError('name_taken', `The name ${name} is in use; you are ${free}.`);
      name = free;
    }

    const person = {
      ws,
      name,
      session,
      // What is stored and compared is a hash, so that a copy of the database opens no room to moderation.
      identity: createHash('sha256').update(session).digest('hex'),
      rooms: new Map(),
      // Its connection is being closed: what still comes from it does not count.
      isLeaving: false,
      bucket: new Bucket(this.#floodPerSecond),
      alive: true,
    };
    this.#byKey.set(nameKey(name), person);
    this.#bySession.set(session, person);
    return { person, replaced, problem };
  }

  depart(person) {
    if (this.#bySession.get(person.session) === person) this.#bySession.delete(person.session);
    const key = nameKey(person.name);
    if (this.#byKey.get(key) === person) this.#byKey.delete(key);
  }

  /** @throws {ChatError} name_taken */
  rename(person, name) {
    const holder = this.#byKey.get(nameKey(name));
    if (holder && holder !== person) {
      throw new ChatError('name_taken', `The name ${name} is in use.`);
    }
    this.#byKey.delete(nameKey(person.name));
    person.name = name;
    this.#byKey.set(nameKey(name), person);
  }

  byName(name) {
    return this.#byKey.get(nameKey(name));
  }

  bySession(session) {
    return this.#bySession.get(session);
  }

  all() {
    return this.#bySession.values();
  }

  #guestName() {
    let name;
    do name = `guest-${randomInt(1000, 1_000_000)}`;
    while (this.#byKey.has(name));
    return name;
  }

  #freeName(name) {
    for (let n = 2; ; n += 1) {
      const suffix = `-${n}`;
      const free = parseName(
        name.slice(0, limits.nameLength - suffix.length).toWellFormed() + suffix,
      );
      if (!this.#byKey.has(nameKey(free))) return free;
    }
  }
}
