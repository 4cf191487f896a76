import { $ } from './elements.js';
import { showMoreRooms } from './sides.js';
import { state } from './state.js';

/** Keeps the list of open rooms fresh while somebody can see it. */

const REFRESH_MS = 15_000;

export async function refreshRooms() {
  const response = await fetch('/api/rooms').catch(() => null);
  const { rooms } = response?.ok ? await response.json() : { rooms: [] };
  state.openRooms = rooms;
  showMoreRooms();
}

function refreshIfVisible() {
  if (document.hidden || state.connection !== 'online') return;
  if (getComputedStyle($('rooms-panel')).visibility === 'visible') refreshRooms();
}

setInterval(refreshIfVisible, REFRESH_MS);
document.addEventListener('visibilitychange', refreshIfVisible);
$('open-rooms').addEventListener('click', refreshRooms);
$('join-room').addEventListener('focus', refreshRooms);
