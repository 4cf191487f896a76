import { ChatError } from './errors.js';
import { moderate } from './moderation.js';
import { errorFrame, joinedFrame, noticeFrame, toFrame } from './wire.js';

/**
 * Actions of people. Each method checks that they may, then acts; a refusal is a ChatError for the one who asked.
 * Sockets and HTTP requests both come through here.
 */
export class Chat {
  constructor({ people, rooms, storage, delivery, files, counters, limits }) {
    Object.assign(this, { people, rooms, storage, delivery, files, counters, limits });
  }

  /** Runs a parsed command. @returns {Promise | undefined} when it is not done at once */
  run(person, command) {
    switch (command.t) {
      case 'msg':
        return this.say(person, command);
      case 'typing':
        return this.typing(person, command.room, command.on);
      case 'join':
        return this.join(person, command.room);
      case 'leave':
        return this.leave(person, command.room);
      case 'nick':
        return this.rename(person, command.name);
      case 'mod':
        return moderate(this, person, command);
    }
  }

  async join(person, name) {
    if (person.rooms.has(name)) return;
    if (person.rooms.size >= this.limits.roomsPerClient) {
      throw new ChatError(
        'too_many_rooms',
        `You can be in ${this.limits.roomsPerClient} rooms at a time; leave one first.`,
      );
    }
    const room = this.rooms.open(name);
    this.#refuseKicked(room, person);
    // From here on the person may speak in the room: frames that follow a join need not wait for its answer.
    person.rooms.set(name, room);
    room.people.add(person);
    try {
      await this.rooms.load(room, person.identity);
    } catch (error) {
      this.#remove(person, room);
      throw error;
    }
    // They may have left, been kicked or lost the connection meanwhile.
    if (person.rooms.get(name) !== room) return;
    // Entering, the history and the list of members are one step: nothing is missed, nothing comes twice.
    this.delivery.join(person, name);
    // What changes where somebody is goes ahead of what is said there.
    const members = this.delivery.names(name) ?? room.names();
    this.delivery.send(person.ws, joinedFrame(room, members), 'high');
    this.#presence(room, person, true);
  }

  leave(person, name) {
    const room = this.#roomOf(person, name);
    this.depart(person, room);
    this.delivery.send(person.ws, JSON.stringify({ t: 'left', room: name }), 'high');
  }

  /** Takes a person out of a room and tells the others. */
  depart(person, room) {
    this.#remove(person, room);
    this.#presence(room, person, false);
  }

  /** The connection is gone. */
  departAll(person) {
    for (const room of [...person.rooms.values()]) this.depart(person, room);
  }

  /** A message over a socket: broadcast and acknowledged once its transaction has committed. */
  async say(person, { room: name, text, ref }) {
    const room = this.#roomOf(person, name);
    const id = await this.post(room, person, { text });
    if (ref !== undefined) this.delivery.send(person.ws, JSON.stringify({ t: 'ack', ref, id }));
  }

  /**
   * Saves a message, then broadcasts it.
   * @param from a person, or {name} for somebody who speaks over HTTP without a connection
   * @returns {Promise<number>} the message's id
   */
  async post(room, from, { text, file }) {
    if (room.isMuted(from)) throw new ChatError('muted', `You are muted in ${room.name}.`);
    this.#refuseKicked(room, from);
    const row = { room: room.name, from: from.name, text, at: Date.now(), file };
    let id;
    try {
      id = await this.delivery.save(row);
    } catch (error) {
      room.isStale = true;
      throw error;
    }
    row.id = id;
    const frame = toFrame(row);
    room.remember(id, frame);
    this.delivery.publish(room.name, frame);
    this.counters.messages += 1;
    return id;
  }

  typing(person, name, on) {
    const room = this.#roomOf(person, name);
    if (room.isMuted(person)) throw new ChatError('muted', `You are muted in ${name}.`);
    const frame = JSON.stringify({ t: 'typing', room: name, name: person.name, on });
    this.delivery.publish(name, frame, { priority: 'low', except: person.ws });
  }

  rename(person, name) {
    const old = person.name;
    this.people.rename(person, name);
    this.delivery.send(person.ws, JSON.stringify({ t: 'nick', name }), 'high');
    if (old === name) return;
    this.delivery.rename(person);
    for (const room of person.rooms.values()) {
      this.notice(room, 'nick', `${old} is now ${name}.`, { old, name });
    }
  }

  /** A notice to everybody in a room, ahead of messages. */
  notice(room, kind, text, fields) {
    const frame = noticeFrame(room.name, kind, text, fields);
    this.delivery.publish(room.name, frame, { priority: 'high' });
  }

  /** A notice from the system to everybody on the server. */
  announce(kind, text, fields) {
    const frame = noticeFrame(null, kind, text, fields);
    for (const person of this.people.all()) this.delivery.send(person.ws, frame, 'high');
    this.delivery.bus.emit('system', { kind, text });
  }

  /** Tells a person that something was refused, and counts it. */
  refuse(person, error) {
    this.counters.count(error.code);
    this.delivery.send(person.ws, errorFrame(error));
  }

  /** Ends a connection; what was already sent to it goes first. */
  end(person, code, reason) {
    person.isLeaving = true;
    this.delivery.end(person.ws, code, reason);
  }

  #presence(room, person, on) {
    this.delivery.presence(person, room.name, on);
    this.delivery.bus.emit('presence', { room: room.name, name: person.name, on });
  }

  #remove(person, room) {
    person.rooms.delete(room.name);
    room.people.delete(person);
    this.delivery.leave(person.ws, room.name);
    this.rooms.release(room);
  }

  #roomOf(person, name) {
    const room = person.rooms.get(name);
    if (room === undefined)
      throw new ChatError('not_in_room', `You are not in ${name}; join it first.`);
    return room;
  }

  #refuseKicked(room, person) {
    const waitMs = room.kickedFor(person);
    if (waitMs > 0) {
      throw new ChatError(
        'kicked',
        `You were removed from ${room.name}; you can come back in ${Math.ceil(waitMs / 1000)} s.`,
      );
    }
  }
}
