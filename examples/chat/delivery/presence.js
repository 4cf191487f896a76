/** Presence in rooms, in the batched arms: by messages of the room, or as all servers with one broker tell. */
import { presenceFrame } from '../wire.js';

/** The only server: the room's own list is all there is. */
export const alone = (rooms, publish) => ({
  join: ({ ws }, room) => rooms.join(ws, room),
  rename() {},
  names: () => null,
  presence({ ws, name }, room, on) {
    publish(room, presenceFrame(room, name, on), { priority: 'low', except: ws });
  },
});

/**
 * Presence on one of several servers: `Rooms` knows who is where, and tells; also when a server dies with its people. Names are unique on one server
 * only, so somebody of the same name may remain.
 */
export const elsewhere = (rooms, send) => {
  const names = (room) => [...new Set(rooms.presence(room).map(({ data }) => data))];
  const join = ({ ws, identity, name }, room) => rooms.join(ws, room, { id: identity, data: name });

  function tell(room, { id, data }, on) {
    const frame = presenceFrame(room, data, on);
    for (const ws of rooms.members(room)) if (ws.person.identity !== id) send(ws, frame, 'low');
  }

  return {
    join,
    names,

    rename(person) {
      for (const room of person.rooms.keys()) {
        // In one turn, so that others hear of both together.
        if (rooms.leave(person.ws, room)) join(person, room);
      }
    },

    // `changed` tells, here as elsewhere.
    presence() {},

    /** Of `onPresence`. Who left and came under another name is announced by a notice. */
    changed({ room, joined, left }) {
      const present = new Set(names(room));
      const [came, gone] = [joined, left].map((list) => new Set(list.map(({ id }) => id)));
      for (const each of left) {
        if (!came.has(each.id) && !present.has(each.data)) tell(room, each, false);
      }
      for (const each of joined) if (!gone.has(each.id)) tell(room, each, true);
    },
  };
};
