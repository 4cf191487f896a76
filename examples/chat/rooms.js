import { ChatError } from './errors.js';
import { nameKey } from './names.js';
import { toFrame } from './wire.js';

/** A room that somebody is in: its people, its newest messages as ready-made frames, and whom it keeps out. */
class Room {
  people = new Set();
  /** Newest messages, oldest first: {id, frame}. */
  recent = [];
  owner = null;
  isLoaded = false;
  /** While owner and recent are being loaded: resolves when they are, rejects if storage fails. */
  loading = null;
  /** True if the remembered messages may be incomplete: after a deletion, or a failed insert whose outcome is unknown. */
  isStale = false;
  #muted = new Set();
  #kickedUntil = new Map();
  #historyLength;

  constructor(name, historyLength) {
    this.name = name;
    this.#historyLength = historyLength;
  }

  /** The name of the connected moderator, or null. */
  get moderator() {
    for (const person of this.people) if (person.identity === this.owner) return person.name;
    return null;
  }

  isModerator(person) {
    return person.identity === this.owner;
  }

  names() {
    return Array.from(this.people, (person) => person.name);
  }

  remember(id, frame) {
    const newest = this.recent.at(-1)?.id ?? 0;
    // A load that overtook this broadcast has brought the message already.
    if (id <= newest && this.recent.some((message) => message.id === id)) return;
    this.recent.push({ id, frame });
    if (this.recent.length > this.#historyLength) this.recent.shift();
  }

  forget(id) {
    this.recent = this.recent.filter((message) => message.id !== id);
  }

  /** Takes what storage knows; messages that were broadcast meanwhile stay. */
  load({ owner, messages }) {
    this.owner = owner;
    const byId = new Map(messages.map((message) => [message.id, toFrame(message)]));
    for (const { id, frame } of this.recent) byId.set(id, frame);
    this.recent = [...byId]
      .map(([id, frame]) => ({ id, frame }))
      .sort((a, b) => a.id - b.id)
      .slice(-this.#historyLength);
    this.isLoaded = true;
    this.isStale = false;
  }

  // Muted and kicked are remembered by name and by identity: neither a new name nor a new connection undoes them.

  mute(person) {
    for (const mark of marks(person)) this.#muted.add(mark);
  }

  unmute(person) {
    for (const mark of marks(person)) this.#muted.delete(mark);
  }

  isMuted(person) {
    return this.#muted.size > 0 && marks(person).some((mark) => this.#muted.has(mark));
  }

  kick(person, untilMs) {
    for (const mark of marks(person)) this.#kickedUntil.set(mark, untilMs);
  }

  /** Ms until the person may come back, 0 if there is nothing to wait for. */
  kickedFor(person, nowMs = Date.now()) {
    let wait = 0;
    for (const mark of marks(person)) {
      const left = (this.#kickedUntil.get(mark) ?? 0) - nowMs;
      if (left <= 0) this.#kickedUntil.delete(mark);
      else wait = Math.max(wait, left);
    }
    return wait;
  }
}

/** The rooms with people in them. Empty ones are dropped from memory; their messages are in storage. */
export class Rooms {
  #rooms = new Map();
  #storage;
  #limits;
  #isShared;

  /** @param isShared other servers change what is stored, too */
  constructor(storage, limits, isShared = false) {
    this.#storage = storage;
    this.#limits = limits;
    this.#isShared = isShared;
  }

  get size() {
    return this.#rooms.size;
  }

  get(name) {
    return this.#rooms.get(name);
  }

  all() {
    return this.#rooms.values();
  }

  /** The room, created if need be; `load` it before somebody enters. @throws {ChatError} too_many_rooms */
  open(name) {
    let room = this.#rooms.get(name);
    if (room === undefined) {
      if (this.#rooms.size >= this.#limits.openRooms) {
        throw new ChatError('too_many_rooms', 'The server has no place for another room.');
      }
      room = new Room(name, this.#limits.historyLength);
      this.#rooms.set(name, room);
    }
    return room;
  }

  /** Loads the room, once for all who wait; whoever creates it owns it. @returns {Promise | null} null if up to date */
  load(room, owner) {
    if (room.isLoaded && !room.isStale && !this.#isShared) return null;
    // What was deleted elsewhere does not come back; what is said from here on is added to what is read.
    if (this.#isShared && room.loading === null) room.recent = [];
    room.loading ??= this.#storage
      .openRoom(room.name, owner, this.#limits.historyLength)
      .then((stored) => room.load(stored))
      .finally(() => {
        room.loading = null;
      });
    return room.loading;
  }

  /** @throws {ChatError} unknown_room when nobody is in it and storage does not know it either */
  async refuseUnknown(name) {
    if (this.#rooms.has(name) || (await this.#storage.hasRoom(name))) return;
    throw new ChatError('unknown_room', `There is no room ${name}.`);
  }

  /** Forgets the room if nobody is in it. */
  release(room) {
    if (room.people.size === 0 && this.#rooms.get(room.name) === room)
      this.#rooms.delete(room.name);
  }
}

function marks({ name, identity }) {
  const byName = `name ${nameKey(name)}`;
  return identity === undefined ? [byName] : [byName, `identity ${identity}`];
}
