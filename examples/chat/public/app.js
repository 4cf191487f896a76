import { Connection } from './connection.js';
import { $, avatar, make, openMenu, toast } from './elements.js';
import { renderEntries, renderEntry } from './messages.js';
import { memory, RoomState, savedRooms, saveRooms, state } from './state.js';
import { acceptFiles, upload } from './uploads.js';

const TYPING_REPEAT_MS = 3_000;
const TYPING_SHOWN_MS = 6_000;

const connection = new Connection(() => ({ name: memory.get('name'), session: state.session }));
const log = $('log');
const text = $('text');

// ---- frames from the server -------------------------------------------------------------------------------

const handlers = {
  hello({ name, session, limits }) {
    state.me = name;
    state.session = session;
    state.limits = limits;
    memory.set('session', session);
    $('nick-name').value = name;
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
      const waiting = room.outbox.find((item) => item.text === entry.text && item.at <= entry.at + 5000);
      if (entry.from === state.me && waiting) room.settle(entry.text);
    }
    for (const item of room.outbox) item.problem ??= 'The connection broke; this may not have been sent.';
    if (room === state.current) showRoom();
    else showRooms();
  },

  left({ room: name }) {
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
    if (frame.kind === 'kick' && frame.name === state.me) toast(`${frame.text} (${room.name})`);
    addEntry(room, { id: null, kind: frame.kind, text: frame.text, at: Date.now() });
  },

  nick({ name }) {
    state.me = name;
    memory.set('name', name);
    $('nick-name').value = name;
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
    if (code === 'bad_name' || code === 'name_taken') $('nick-name').value = state.me;
    if (code === 'kicked' || code === 'bad_room' || code === 'too_many_rooms') dropUnjoined();
  },
};

connection.addEventListener('frame', ({ detail }) => handlers[detail.t]?.(detail));

function toEntry({ id, from, text: body, at, file }) {
  return { id, from, text: body, at, file };
}

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

// ---- what is shown ----------------------------------------------------------------------------------------

const context = {
  get me() {
    return state.me;
  },
  onRetry(item) {
    discard(item);
    say(item.text);
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

/** Whether the reader is at the newest message and stays there; pictures and the keyboard change heights later. */
let isFollowing = true;

function isAtEnd() {
  return log.scrollHeight - log.scrollTop - log.clientHeight < 60;
}

function toEnd() {
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
function addEntry(room, entry, isRedraw = false) {
  const previous = room.entries.at(-1) ?? null;
  room.entries.push(entry);
  if (room !== state.current) return;
  const follow = isFollowing || entry.from === state.me;
  const isNewDay =
    previous === null || new Date(previous.at).toDateString() !== new Date(entry.at).toDateString();
  if (isRedraw || isNewDay || room.outbox.length > 0 || room.lastSeen !== null) {
    showLog(follow);
    return;
  }
  log.append(renderEntry(room, entry, previous, context));
  if (follow) toEnd();
  else if (!entry.kind) $('to-newest').hidden = false;
}

/** Draws the whole list anew; readers of live regions are not told all of it again. */
function showLog(follow = isFollowing) {
  const at = log.scrollTop;
  log.setAttribute('aria-live', 'off');
  const room = state.current;
  const items = room ? renderEntries(room, context) : [];
  if (room?.isComplete || (room?.isJoined && room.entries.length === 0)) {
    items.unshift(make('li', { class: 'start' }, avatar(room.name), `This is where ${room.name} begins.`));
  }
  log.replaceChildren(...items);
  if (follow) toEnd();
  else log.scrollTop = at;
  requestAnimationFrame(() => log.removeAttribute('aria-live'));
}

function showRooms() {
  let others = 0;
  $('rooms').replaceChildren(
    ...Array.from(state.rooms.values(), (room) => {
      const isCurrent = room === state.current;
      if (!isCurrent) others += room.unread;
      return make(
        'li',
        {},
        make(
          'a',
          {
            href: `#${encodeURIComponent(room.name)}`,
            class: room.unread > 0 ? 'has-unread' : '',
            'aria-current': isCurrent ? 'page' : null,
          },
          make('span', { class: 'hash', 'aria-hidden': 'true' }, '#'),
          make('span', { class: 'name', dir: 'auto' }, room.name),
          room.unread > 0
            ? make('span', { class: 'badge', 'aria-label': `${room.unread} unread` }, short(room.unread))
            : null,
        ),
        make(
          'button',
          {
            class: 'icon leave',
            'aria-label': `Leave ${room.name}`,
            title: 'Leave',
            onclick: () => leave(room),
          },
          '×',
        ),
      );
    }),
  );
  const unread = others + (state.current?.unread ?? 0);
  document.title = `${unread > 0 ? `(${short(unread)}) ` : ''}${state.current?.name ?? 'Chat'}`;
  $('other-unread').hidden = others === 0;
  $('other-unread').textContent = short(others);
}

function short(count) {
  return count > 99 ? '99+' : String(count);
}

function showRoom() {
  const room = state.current;
  $('room-name').textContent = room ? `# ${room.name}` : 'Chat';
  $('drop-room').textContent = room?.name ?? '';
  text.placeholder = room ? `Message #${room.name}` : 'Join a room to chat';
  text.disabled = room === null;
  $('send').disabled = room === null;
  $('attach').disabled = room === null;
  showLog(true);
  showRooms();
  showPeople();
  showTyping();
}

function showPeople() {
  const room = state.current;
  const names = room ? [...room.members].sort((a, b) => a.localeCompare(b)) : [];
  $('people').replaceChildren(...names.map((name) => person(room, name)));
  $('people-count').textContent = names.length > 0 ? String(names.length) : '';
  $('room-info').textContent = !room
    ? ''
    : `${names.length} here${room.moderator ? ` · moderated by ${room.moderator === state.me ? 'you' : room.moderator}` : ''}`;
}

function person(room, name) {
  const isMe = name === state.me;
  const item = make(
    'li',
    {},
    avatar(name),
    make('span', { class: 'name', dir: 'auto' }, name),
    isMe ? make('span', { class: 'quiet' }, 'you') : null,
    name === room.moderator ? make('span', { class: 'tag' }, 'moderator') : null,
  );
  if (room.moderator === state.me && !isMe) {
    const act = (action) => connection.send({ t: 'mod', room: room.name, action, target: name });
    const button = make(
      'button',
      {
        class: 'icon more',
        'aria-label': `Moderate ${name}`,
        'aria-haspopup': 'menu',
        'aria-expanded': 'false',
      },
      '⋯',
    );
    button.onclick = () =>
      openMenu(button, [
        ['Mute', () => act('mute')],
        ['Unmute', () => act('unmute')],
        ['Remove from the room', () => act('kick'), true],
      ]);
    item.append(button);
  }
  return item;
}

function showTyping() {
  const names = [...(state.current?.typing.keys() ?? [])];
  const line = $('typing');
  line.textContent =
    names.length === 0
      ? ''
      : names.length === 1
        ? `${names[0]} is typing`
        : names.length <= 3
          ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are typing`
          : 'Several people are typing';
  line.classList.toggle('active', names.length > 0);
}

function stopTyping(room, name) {
  clearTimeout(room.typing.get(name));
  room.typing.delete(name);
  if (room === state.current) showTyping();
}

function rename(room, old, name) {
  if (!room.members.delete(old)) return;
  room.members.add(name);
  if (room.moderator === old) room.moderator = name;
  stopTyping(room, old);
  if (room === state.current) showPeople();
}

function showBanner(message, label, action) {
  $('banner').hidden = message === '';
  $('banner-text').textContent = message;
  const button = $('banner-button');
  button.hidden = !label;
  button.textContent = label ?? '';
  button.onclick = action ?? null;
}

let countdown;
connection.addEventListener('state', ({ detail }) => {
  clearInterval(countdown);
  $('connection').dataset.state = detail.state;
  if (detail.state === 'online') {
    $('connection-text').textContent = 'Connected';
    showBanner('');
    return;
  }
  for (const room of state.rooms.values()) {
    room.isJoined = false;
    for (const name of [...room.typing.keys()]) stopTyping(room, name);
    for (const item of room.outbox) item.problem ??= 'The connection broke; this may not have been sent.';
  }
  if (state.current?.outbox.length > 0) showLog();
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
    showBanner('The connection is lost; trying to get it back.', 'Try now', () => connection.retryNow());
  }
});

// ---- rooms ------------------------------------------------------------------------------------------------

function enter(name) {
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

function dropRoom(name) {
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
function dropUnjoined() {
  for (const room of [...state.rooms.values()]) if (!room.isJoined) dropRoom(room.name);
}

function roomFromHash() {
  try {
    return decodeURIComponent(location.hash.slice(1)).normalize('NFKC').toLowerCase();
  } catch {
    return '';
  }
}

addEventListener('hashchange', () => {
  const name = roomFromHash();
  if (name) enter(name);
});

$('join').onsubmit = (event) => {
  event.preventDefault();
  const name = $('join-room').value.trim().replace(/^#/, '').replace(/\s+/g, '-');
  $('join-room').value = '';
  if (name === '') return;
  if (roomFromHash() === name.normalize('NFKC').toLowerCase()) enter(roomFromHash());
  else location.hash = encodeURIComponent(name);
};

function step(by) {
  const names = [...state.rooms.keys()];
  if (names.length === 0) return;
  const at = names.indexOf(state.current?.name) + by;
  location.hash = encodeURIComponent(names.at(at % names.length));
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
  try {
    const response = await fetch(
      `/api/rooms/${encodeURIComponent(room.name)}/messages?before=${room.oldestId}&limit=50`,
    );
    if (!response.ok) throw new Error(String(response.status));
    const { messages } = await response.json();
    room.isComplete = messages.length < 50;
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

$('to-newest').onclick = () => {
  toEnd();
  text.focus();
};

// ---- writing ----------------------------------------------------------------------------------------------

let typingSentAt = 0;
let typingTimer;

function tellTyping(on) {
  clearTimeout(typingTimer);
  if (on) typingTimer = setTimeout(() => tellTyping(false), TYPING_REPEAT_MS + 1000);
  if (!state.current || (!on && typingSentAt === 0)) return;
  if (on && Date.now() - typingSentAt < TYPING_REPEAT_MS) return;
  typingSentAt = on ? Date.now() : 0;
  connection.send({ t: 'typing', room: state.current.name, on });
}

function say(body) {
  const room = state.current;
  const ref = crypto.getRandomValues(new Uint32Array(2)).join('-');
  const item = { ref, text: body, at: Date.now(), problem: undefined };
  if (!connection.send({ t: 'msg', room: room.name, text: body, ref })) {
    item.problem = 'There is no connection.';
  }
  room.outbox.push(item);
  showLog(true);
}

/** Grows with its text, up to a third of the window. */
function fit() {
  text.style.height = 'auto';
  text.style.height = `${Math.min(text.scrollHeight, innerHeight / 3)}px`;
  const left = state.limits.text - text.value.length;
  $('count').hidden = left > 200;
  $('count').textContent =
    left >= 0 ? `${left} characters left` : `${-left} characters too many`;
  $('count').classList.toggle('problem', left < 0);
}

text.addEventListener('input', () => {
  fit();
  tellTyping(text.value.trim() !== '');
});

$('composer').onsubmit = (event) => {
  event.preventDefault();
  const body = text.value.replace(/\r\n?/g, '\n').trim();
  if (body === '' || !state.current) return;
  if (body.length > state.limits.text) {
    toast(`A message has at most ${state.limits.text} characters; this one has ${body.length}.`);
    return;
  }
  text.value = '';
  fit();
  tellTyping(false);
  state.current.lastSeen = null;
  say(body);
};

text.addEventListener('keydown', (event) => {
  // Enter while a candidate of an input method is open chooses it, and does not send.
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    $('composer').requestSubmit();
  }
  if (event.key === 'PageUp' || event.key === 'PageDown') {
    event.preventDefault();
    log.scrollBy({ top: (event.key === 'PageUp' ? -0.8 : 0.8) * log.clientHeight });
  }
});

acceptFiles((files) => {
  if (!state.current) return;
  upload(state.current.name, files, { session: state.session, maxBytes: state.limits.file });
});

// ---- name, theme, panels, keys ----------------------------------------------------------------------------

$('nick').onsubmit = (event) => {
  event.preventDefault();
  const name = $('nick-name').value.trim();
  if (name !== '' && name !== state.me && !connection.send({ t: 'nick', name })) {
    toast('There is no connection.');
  }
  text.focus();
};

const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function showTheme() {
  const chosen = memory.get('theme');
  const isDark = chosen ? chosen === 'dark' : prefersDark.matches;
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  $('theme').setAttribute('aria-pressed', String(isDark));
}

prefersDark.addEventListener('change', showTheme);
$('theme').onclick = () => {
  memory.set('theme', document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  showTheme();
};

const panels = { 'rooms-panel': $('open-rooms'), 'people-panel': $('open-people') };

function openPanel(id) {
  closePanels();
  $(id).classList.add('open');
  panels[id].setAttribute('aria-expanded', 'true');
  $('scrim').hidden = false;
  $(id).querySelector('a, button, input')?.focus();
}

/** @returns {boolean} whether one was open */
function closePanels() {
  let wasOpen = false;
  for (const [id, button] of Object.entries(panels)) {
    if (!$(id).classList.contains('open')) continue;
    wasOpen = true;
    $(id).classList.remove('open');
    button.setAttribute('aria-expanded', 'false');
    button.focus();
  }
  $('scrim').hidden = true;
  return wasOpen;
}

for (const [id, button] of Object.entries(panels)) button.onclick = () => openPanel(id);
$('scrim').onclick = closePanels;
$('help-button').onclick = () => $('help').showModal();

addEventListener('keydown', (event) => {
  if (document.querySelector('dialog[open]')) return;
  const isWriting = event.target.matches('input, textarea');
  if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
    event.preventDefault();
    step(event.key === 'ArrowUp' ? -1 : 1);
  } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    if (matchMedia('(max-width: 760px)').matches) openPanel('rooms-panel');
    $('join-room').focus();
  } else if (event.key === 'Escape') {
    if (closePanels()) return;
    toEnd();
    text.focus();
  } else if (event.key === '/' && !isWriting) {
    event.preventDefault();
    text.focus();
  } else if (event.key === '?' && !isWriting) {
    $('help').showModal();
  }
});

document.addEventListener('visibilitychange', () => {
  if (document.hidden || !state.current) return;
  state.current.unread = 0;
  showRooms();
});

// ---- start ------------------------------------------------------------------------------------------------

function start() {
  for (const name of savedRooms()) state.rooms.set(name, new RoomState(name));
  connection.connect();
  const first = roomFromHash() || [...state.rooms.keys()][0] || 'lobby';
  if (roomFromHash() === first) enter(first);
  else location.hash = encodeURIComponent(first);
}

showTheme();
showRoom();
if (memory.get('name')) start();
else {
  const welcome = $('welcome');
  welcome.showModal();
  welcome.addEventListener('cancel', (event) => event.preventDefault());
  $('welcome-form').onsubmit = (event) => {
    event.preventDefault();
    const name = $('welcome-name').value.trim();
    if (!/^[\p{L}\p{N}\p{Extended_Pictographic}][\p{L}\p{M}\p{N}\p{Extended_Pictographic} ._-]*$/u.test(name)) {
      $('welcome-problem').textContent =
        'A name starts with a letter, digit or emoji and goes on with those, spaces, dots, hyphens and underscores.';
      return;
    }
    memory.set('name', name);
    welcome.close();
    start();
  };
}
