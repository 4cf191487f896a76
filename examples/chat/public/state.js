/** State that this browser remembers, if it may. */
export const memory = {
  get(key) {
    try {
      return localStorage.getItem(`chat.${key}`);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      localStorage.setItem(`chat.${key}`, value);
    } catch {
      // Private windows may forbid it; the chat works, it only forgets.
    }
  },
};

/** Room as this page knows it. */
export class RoomState {
  members = new Set();
  moderator = null;
  /** Oldest first: messages, and notices with an id of null. */
  entries = [];
  /** Sent, not yet acknowledged: {ref, text, at, problem}. */
  outbox = [];
  typing = new Map();
  unread = 0;
  /** Id of the last message that was seen before the unread ones. */
  lastSeen = null;
  isComplete = false;
  isLoading = false;
  isJoined = false;
  draft = '';

  constructor(name) {
    this.name = name;
  }

  get oldestId() {
    return this.entries.find((entry) => entry.id)?.id;
  }

  has(id) {
    return this.entries.some((entry) => entry.id === id);
  }

  /** Takes the history after a join: the server's history, and what was scrolled back to if it joins up with it. */
  takeHistory(history) {
    const known = this.entries.filter((entry) => entry.id);
    const joinsUp = history.length > 0 && known.some((entry) => entry.id === history[0].id);
    this.entries = joinsUp
      ? [...known.filter((entry) => entry.id < history[0].id), ...history]
      : history;
    this.isComplete = joinsUp ? this.isComplete : false;
  }

  /** Drops the outbox entry that this message of ours is. @returns {boolean} */
  settle(text) {
    const at = this.outbox.findIndex((item) => item.text === text);
    if (at >= 0) this.outbox.splice(at, 1);
    return at >= 0;
  }
}

export const state = {
  me: null,
  session: memory.get('session'),
  limits: { history: 50, text: 4000, file: 10 * 1024 * 1024, name: 24, room: 32 },
  /** State of the connection: connecting, online, waiting or replaced. */
  connection: 'connecting',
  rooms: new Map(),
  /** Last list of the server: {room, members}, the fullest first. */
  openRooms: [],
  /** The room that is shown. */
  current: null,
};

/** A message as rooms keep it. */
export function toEntry({ id, from, text, at, file }) {
  return { id, from, text, at, file };
}

export function savedRooms() {
  try {
    return JSON.parse(memory.get('rooms')) ?? [];
  } catch {
    return [];
  }
}

export function saveRooms() {
  memory.set('rooms', JSON.stringify([...state.rooms.keys()]));
}
