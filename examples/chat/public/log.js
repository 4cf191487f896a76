import { $, avatar, make, toast } from './elements.js';
import { connection } from './link.js';
import { renderEntries, renderEntry } from './messages.js';
import { state, toEntry } from './state.js';

/** The list of messages of the room that is shown. Fires `retry` with an unsent message that is to be sent again. */
const log = $('log');

const context = {
  get me() {
    return state.me;
  },
  onRetry(item) {
    discard(item);
    log.dispatchEvent(new CustomEvent('retry', { detail: item }));
  },
  onDrop(item) {
    discard(item);
    showLog();
  },
  onDelete(message) {
    connection.send({ t: 'mod', room: state.current.name, action: 'delete', target: message.id });
  },
};

function discard(item) {
  state.current.outbox = state.current.outbox.filter((other) => other !== item);
}

/** True if the reader is at the newest message and stays there; pictures and the keyboard change heights later. */
let isFollowing = true;

function isAtEnd() {
  return log.scrollHeight - log.scrollTop - log.clientHeight < 60;
}

export function toEnd() {
  isFollowing = true;
  log.scrollTop = log.scrollHeight;
  $('to-newest').hidden = true;
}

function stayAtEnd() {
  if (isFollowing) toEnd();
}

log.addEventListener('load', stayAtEnd, { capture: true });
new ResizeObserver(stayAtEnd).observe(log);

/** Adds one entry: the common case appends one item, without touching the rest. */
export function addEntry(room, entry, isRedraw = false) {
  const previous = room.entries.at(-1) ?? null;
  room.entries.push(entry);
  if (room !== state.current) return;
  const follow = isFollowing || entry.from === state.me;
  const isNewDay =
    previous === null || new Date(previous.at).toDateString() !== new Date(entry.at).toDateString();
  const isFirstUnread =
    room.lastSeen !== null && entry.id > room.lastSeen && !(previous?.id > room.lastSeen);
  if (isRedraw || isNewDay || isFirstUnread || room.outbox.length > 0) {
    showLog(follow);
    return;
  }
  log.append(renderEntry(room, entry, previous, context));
  if (follow) toEnd();
  else if (!entry.kind) $('to-newest').hidden = false;
}

/** Draws the whole list anew; readers of live regions are not told all of it again. */
export function showLog(follow = isFollowing) {
  const at = log.scrollTop;
  log.setAttribute('aria-live', 'off');
  const room = state.current;
  const items = room ? renderEntries(room, context) : [];
  if (room?.isComplete || (room?.isJoined && room.entries.length === 0)) {
    items.unshift(
      make('li', { class: 'start' }, avatar(room.name), `This is where ${room.name} begins.`),
    );
  }
  log.replaceChildren(...items);
  if (follow) toEnd();
  else log.scrollTop = at;
  requestAnimationFrame(() => log.removeAttribute('aria-live'));
}

log.addEventListener('scroll', () => {
  isFollowing = isAtEnd();
  if (isFollowing) $('to-newest').hidden = true;
  if (log.scrollTop < 120) older();
});

/** Loads what came before, and keeps the reader's place. */
async function older() {
  const room = state.current;
  if (!room?.isJoined || room.isLoading || room.isComplete || !room.oldestId) return;
  room.isLoading = true;
  const limit = state.limits.history;
  try {
    const response = await fetch(
      `/api/rooms/${encodeURIComponent(room.name)}/messages?before=${room.oldestId}&limit=${limit}`,
    );
    if (!response.ok) throw new Error(String(response.status));
    const { messages } = await response.json();
    room.isComplete = messages.length < limit;
    room.entries.unshift(...messages.map(toEntry));
    if (room !== state.current) return;
    const fromEnd = log.scrollHeight - log.scrollTop;
    showLog(false);
    log.scrollTop = log.scrollHeight - fromEnd;
  } catch {
    toast('Older messages could not be loaded.');
  } finally {
    room.isLoading = false;
  }
}
