import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { WebSocket } from 'ws';
import { ChatError } from '../errors.js';
import { goodbye } from '../goodbye.js';
import { presenceFrame } from '../wire.js';

// The payload is UTF-8 already: encoded once per message, not once per member.
const AS_TEXT = { binary: false };

/** Delivers each event on its own, as the platform does it: one ws.send per member, one INSERT per message, node:events. */
export function createDirect({ storage, readPage, limits, onSlow }) {
  const rooms = new Map();
  const emitter = new EventEmitter();
  const inserts = new Set();
  let frames = 0;
  let unhandled = 0;
  let batches = 0;
  let slow = 0;

  function deliver(ws, data) {
    if (ws.readyState !== WebSocket.OPEN) return;
    if (ws.bufferedAmount > limits.pendingBytes) {
      slow += 1;
      goodbye(ws, 1013, 'too slow');
      onSlow();
      return;
    }
    frames += 1;
    ws.send(data, AS_TEXT);
  }

  function publish(room, frame, { except } = {}) {
    const members = rooms.get(room);
    if (members === undefined) return 0;
    const data = Buffer.from(frame);
    for (const ws of members) if (ws !== except) deliver(ws, data);
    return members.size - (members.has(except) ? 1 : 0);
  }

  return {
    policy: 'direct',
    maxDelay: null,

    join({ ws }, room) {
      const members = rooms.get(room);
      if (members === undefined) rooms.set(room, new Set([ws]));
      else members.add(ws);
    },

    leave(ws, room) {
      const members = rooms.get(room);
      if (members?.delete(ws) && members.size === 0) rooms.delete(room);
    },

    rename() {},
    names: () => null,
    publish,

    presence(person, room, on) {
      publish(room, presenceFrame(room, person.name, on), { except: person.ws });
    },

    send(ws, frame) {
      deliver(ws, Buffer.from(frame));
    },

    end: goodbye,

    async save(row) {
      if (inserts.size >= limits.pendingInserts) {
        throw new ChatError('overloaded', 'Too many messages are waiting to be saved; try again.');
      }
      const insert = storage.insert(row);
      inserts.add(insert);
      try {
        const id = await insert;
        batches += 1;
        return id;
      } finally {
        inserts.delete(insert);
      }
    },

    history: readPage,
    readFile,

    bus: {
      on: (type, listener) => emitter.on(type, listener),
      emit(type, event) {
        if (!emitter.emit(type, event)) unhandled += 1;
      },
    },

    async settled() {
      while (inserts.size > 0) await Promise.allSettled(inserts);
    },

    flush() {},

    async close() {
      rooms.clear();
    },

    stats() {
      return {
        frames,
        // ws corks a frame's header and payload into one write.
        writes: frames,
        batches,
        items: batches,
        unhandled,
        slow,
        queues: { inserts: inserts.size },
      };
    },
  };
}
