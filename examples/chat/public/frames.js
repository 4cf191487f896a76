import { $, toast } from './elements.js';
import { connection } from './link.js';
import { addEntry, showLog } from './log.js';
import { refreshRooms } from './more-rooms.js';
import { dropRoom, dropUnjoined } from './navigation.js';
import {
  rename,
  showBanner,
  showConnection,
  showName,
  showPeople,
  showRoom,
  showRooms,
  showTyping,
  stopTyping,
} from './sides.js';
import { memory, state, toEntry } from './state.js';

const TYPING_SHOWN_MS = 6_000;

/** Actions for each frame from the server. */
const handlers = {
  hello({ name, session, limits }) {
    state.me = name;
    state.session = session;
    state.limits = limits;
    memory.set('session', session);
    showName();
    for (const room of state.rooms.values()) connection.send({ t: 'join', room: room.name });
    showPeople();
  },

  joined({ room: name, members, history, moderator }) {
    const room = state.rooms.get(name);
    if (!room) return;
    room.isJoined = true;
    room.members = new Set(members);
    room.moderator = moderator;
    room.takeHistory(history.map(toEntry));
    // What was on its way when the connection broke may have arrived after all.
    for (const entry of history) {
      const waiting = room.outbox.find(
        (item) => item.text === entry.text && item.at <= entry.at + 5000,
      );
      if (entry.from === state.me && waiting) room.settle(entry.text);
    }
    for (const item of room.outbox)
      item.problem ??= 'The connection broke; this may not have been sent.';
    if (room === state.current) showRoom();
    else showRooms();
  },

  left({ room: name, reason }) {
    if (reason === 'kick') toast(`You were removed from ${name}.`);
    dropRoom(name);
  },

  msg(frame) {
    arrive(frame);
  },

  file(frame) {
    arrive(frame);
  },

  ack({ ref }) {
    for (const room of state.rooms.values()) {
      const count = room.outbox.length;
      room.outbox = room.outbox.filter((item) => item.ref !== ref);
      if (room.outbox.length < count && room === state.current) showLog();
    }
  },

  presence({ room: name, name: person, on }) {
    const room = state.rooms.get(name);
    if (!room) return;
    if (on) room.members.add(person);
    else {
      room.members.delete(person);
      stopTyping(room, person);
      if (room.moderator === person) room.moderator = null;
    }
    if (room === state.current) showPeople();
  },

  typing({ room: name, name: person, on }) {
    const room = state.rooms.get(name);
    if (!room) return;
    stopTyping(room, person);
    if (on) {
      room.typing.set(
        person,
        setTimeout(() => {
          room.typing.delete(person);
          showTyping();
        }, TYPING_SHOWN_MS),
      );
    }
    if (room === state.current) showTyping();
  },

  notice(frame) {
    if (frame.room === null) {
      showBanner(frame.kind === 'storage' && frame.ok ? '' : frame.text);
      if (frame.kind === 'storage' && frame.ok) toast(frame.text);
      return;
    }
    const room = state.rooms.get(frame.room);
    if (!room) return;
    if (frame.kind === 'delete') {
      room.entries = room.entries.filter((entry) => entry.id !== frame.id);
      if (room === state.current) showLog();
    }
    if (frame.kind === 'nick') rename(room, frame.old, frame.name);
    addEntry(room, { id: null, kind: frame.kind, text: frame.text, at: Date.now() });
  },

  nick({ name }) {
    state.me = name;
    memory.set('name', name);
    showName();
  },

  error({ code, message, ref }) {
    if (ref !== undefined) {
      for (const room of state.rooms.values()) {
        const item = room.outbox.find((candidate) => candidate.ref === ref);
        if (!item) continue;
        item.problem = message;
        if (room === state.current) showLog();
        return;
      }
    }
    toast(message);
    if (code === 'bad_name' || code === 'name_taken') showName();
    if (code === 'kicked' || code === 'bad_room' || code === 'too_many_rooms') dropUnjoined();
  },
};

connection.addEventListener('frame', ({ detail }) => handlers[detail.t]?.(detail));

function arrive(frame) {
  const room = state.rooms.get(frame.room);
  if (!room || room.has(frame.id)) return;
  stopTyping(room, frame.from);
  const settled = frame.from === state.me && room.settle(frame.text);
  if (room !== state.current || document.hidden) {
    if (room.unread === 0) room.lastSeen = room.entries.findLast((entry) => entry.id)?.id ?? 0;
    if (frame.from !== state.me) room.unread += 1;
    showRooms();
  }
  addEntry(room, toEntry(frame), settled);
  if (room === state.current) showTyping();
}

let countdown;
connection.addEventListener('state', ({ detail }) => {
  clearInterval(countdown);
  $('connection').dataset.state = detail.state;
  state.connection = detail.state;
  if (detail.state === 'online') refreshRooms();
  if (detail.state === 'online') {
    $('connection-text').textContent = 'Connected';
    showBanner('');
    showConnection();
    return;
  }
  for (const room of state.rooms.values()) {
    room.isJoined = false;
    for (const name of [...room.typing.keys()]) stopTyping(room, name);
    for (const item of room.outbox)
      item.problem ??= 'The connection broke; this may not have been sent.';
  }
  if (state.current?.outbox.length > 0) showLog();
  showConnection();
  if (detail.state === 'connecting') {
    $('connection-text').textContent = 'Connecting…';
  } else if (detail.state === 'replaced') {
    $('connection-text').textContent = 'Open elsewhere';
    showBanner('This chat is open in another window.', 'Use it here', () => connection.connect());
  } else {
    const tick = () => {
      const seconds = Math.max(1, Math.ceil((detail.retryAt - Date.now()) / 1000));
      $('connection-text').textContent = `Trying again in ${seconds} s`;
    };
    tick();
    countdown = setInterval(tick, 500);
    showBanner('The connection is lost; trying to get it back.', 'Try now', () =>
      connection.retryNow(),
    );
  }
});
