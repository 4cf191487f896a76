/** Subjects: rooms over several nodes. Both deliver to local members by `Rooms`; they differ in their messages to the broker. */

import { natsRooms } from '@millrace/nats/rooms';
import { connect } from '@nats-io/transport-node';
import { Rooms } from 'millrace/ws';

const text = { binary: false };

/** Options by which nobody is closed for being slow. */
const roomy = { maxPending: 1024 ** 3 };

/**
 * Subjects. Each is given the broker and more options of `natsRooms()`; what it gives has `join`, `publish` and `stats`,
 * and `presence` where that is known.
 */
export const subjects = {
  /** Sends a turn's messages to a room in one message of the broker. */
  millrace: async (broker, options) => {
    const rooms = new Rooms({ ...roomy, across: natsRooms({ ...options, broker }) });
    await rooms.ready();
    return {
      // An option for heartbeats implies presence.
      join: (socket, name) => rooms.join(socket, name, options.heartbeat ? {} : undefined),
      presence: (name) => rooms.presence(name),
      publish: (name, data) => rooms.publish(name, data, text),
      stats: () => rooms.stats(),
    };
  },

  /** A message of the broker for each message, as its client makes it easy: to a subject for each room with members here. */
  unbatched: async (broker, options) => {
    const connection = await connect({ servers: broker, noEcho: true });
    const rooms = new Rooms({ ...roomy, ...options });
    const joined = new Set();
    const subjectOf = (name) => `rooms.${Buffer.from(name).toString('base64url')}`;
    return {
      join(socket, name) {
        rooms.join(socket, name);
        if (joined.has(name)) return;
        joined.add(name);
        const callback = (_error, message) => rooms.publish(name, Buffer.from(message.data), text);
        connection.subscribe(subjectOf(name), { callback });
      },
      publish(name, data) {
        rooms.publish(name, data, text);
        connection.publish(subjectOf(name), data);
      },
      stats: () => rooms.stats(),
    };
  },
};
