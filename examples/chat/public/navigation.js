import { closePanels } from './chrome.js';
import { fit } from './composer.js';
import { $ } from './elements.js';
import { connection } from './link.js';
import { showRoom, showRooms } from './sides.js';
import { RoomState, saveRooms, state } from './state.js';

/** Going from room to room. The address says which one is shown. */

const text = $('text');

export function enter(name) {
  if (state.current) state.current.draft = text.value;
  let room = state.rooms.get(name);
  if (!room) {
    room = new RoomState(name);
    state.rooms.set(name, room);
    connection.send({ t: 'join', room: name });
    saveRooms();
  }
  // The line above the unread messages stays until the next visit.
  if (room.unread === 0) room.lastSeen = null;
  room.unread = 0;
  state.current = room;
  text.value = room.draft;
  fit();
  showRoom();
  closePanels();
  if (matchMedia('(hover: hover)').matches) text.focus();
}

function leave(room) {
  if (!connection.send({ t: 'leave', room: room.name }) || !room.isJoined) dropRoom(room.name);
}

export function dropRoom(name) {
  if (!state.rooms.delete(name)) return;
  saveRooms();
  if (state.current?.name !== name) return showRooms();
  state.current = null;
  text.value = '';
  const [next] = state.rooms.keys();
  if (next) location.hash = encodeURIComponent(next);
  else {
    history.replaceState(null, '', location.pathname);
    showRoom();
  }
}

// The server refused a room that we had already put in the list.
export function dropUnjoined() {
  for (const room of [...state.rooms.values()]) if (!room.isJoined) dropRoom(room.name);
}

export function roomFromHash() {
  try {
    return decodeURIComponent(location.hash.slice(1)).normalize('NFKC').toLowerCase();
  } catch {
    return '';
  }
}

addEventListener('hashchange', () => {
  const name = roomFromHash();
  if (!name) return;
  // One room, one address, however it was typed.
  history.replaceState(null, '', `#${encodeURIComponent(name)}`);
  enter(name);
});

$('join').onsubmit = (event) => {
  event.preventDefault();
  const name = $('join-room').value.trim().replace(/^#/, '').replace(/\s+/g, '-');
  $('join-room').value = '';
  if (name === '') return;
  if (roomFromHash() === name.normalize('NFKC').toLowerCase()) enter(roomFromHash());
  else location.hash = encodeURIComponent(name);
};

$('rooms').addEventListener('click', ({ target }) => {
  const room = state.rooms.get(target.dataset.leave);
  if (room) leave(room);
});

/** Goes to the next room in the list, or the previous one. */
export function step(by) {
  const names = [...state.rooms.keys()];
  if (names.length === 0) return;
  const at = names.indexOf(state.current?.name) + by;
  location.hash = encodeURIComponent(names.at(at % names.length));
}
