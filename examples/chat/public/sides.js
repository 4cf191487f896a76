import { $, avatar, make, openMenu } from './elements.js';
import { connection } from './link.js';
import { showLog } from './log.js';
import { state } from './state.js';

/** Parts of the page around the messages: rooms, people, who is typing, the room's name, the banner. */

export function showRooms() {
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
            ? make(
                'span',
                { class: 'badge', 'aria-label': `${room.unread} unread` },
                short(room.unread),
              )
            : null,
        ),
        make(
          'button',
          {
            class: 'icon leave',
            'aria-label': `Leave ${room.name}`,
            title: 'Leave',
            data: { leave: room.name },
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
  showMoreRooms();
}

/** Rooms with people in them that we are not in, in the list and as suggestions. */
export function showMoreRooms() {
  const more = state.openRooms.filter(({ room }) => !state.rooms.has(room));
  const list = $('more-rooms');
  const focused = list.contains(document.activeElement) && document.activeElement.hash;
  list.replaceChildren(
    ...more.map(({ room, members }) =>
      make(
        'li',
        {},
        make(
          'a',
          { href: `#${encodeURIComponent(room)}` },
          make('span', { class: 'hash', 'aria-hidden': 'true' }, '#'),
          make('span', { class: 'name', dir: 'auto' }, room),
          make('span', { class: 'quiet count-here' }, `${members} here`),
        ),
      ),
    ),
  );
  // A list that is drawn anew under the keyboard keeps its place.
  if (focused) [...list.querySelectorAll('a')].find(({ hash }) => hash === focused)?.focus();
  $('more').hidden = more.length === 0;
  $('open-room-names').replaceChildren(
    ...more.map(({ room, members }) => make('option', { value: room }, `${members} here`)),
  );
}

function short(count) {
  return count > 99 ? '99+' : String(count);
}

export function showRoom() {
  const room = state.current;
  $('room-name').textContent = room ? `# ${room.name}` : 'Chat';
  $('drop-room').textContent = room?.name ?? '';
  const text = $('text');
  text.placeholder = room ? `Message #${room.name}` : 'Join a room to chat';
  text.disabled = room === null;
  $('attach').disabled = room === null;
  showSend();
  showLog(true);
  showRooms();
  showPeople();
  showTyping();
}

/** Reports whether there is something to send, and a way. */
export function showSend() {
  const isOnline = state.connection === 'online';
  const send = $('send');
  send.disabled = !isOnline || state.current === null || $('text').value.trim() === '';
  send.title = isOnline ? 'Send (Enter)' : 'Not connected';
}

/** Our name in its field, as the server knows it. */
export function showName() {
  $('nick-name').value = state.me;
  $('nick-save').hidden = true;
}

export function showConnection() {
  $('app').classList.toggle('offline', state.connection !== 'online');
  showSend();
  showPeople();
}

export function showPeople() {
  const room = state.current;
  const names = room ? [...room.members].sort((a, b) => a.localeCompare(b)) : [];
  $('people').replaceChildren(...names.map((name) => person(room, name)));
  if (state.connection !== 'online') {
    const word = state.connection === 'connecting' ? 'connecting…' : 'not connected';
    const status = room ? word : '';
    $('people-count').textContent = status;
    $('room-info').textContent = status;
    return;
  }
  $('people-count').textContent = names.length > 0 ? String(names.length) : '';
  $('room-info').textContent = room?.isJoined
    ? `${names.length} here${room.moderator ? ` · moderated by ${room.moderator === state.me ? 'you' : room.moderator}` : ''}`
    : '';
}

function person(room, name) {
  const isMe = name === state.me;
  const item = make(
    'li',
    {},
    avatar(name),
    make(
      'div',
      { class: 'who' },
      make('span', { class: 'name', dir: 'auto' }, name),
      isMe ? make('span', { class: 'quiet' }, 'you') : null,
      name === room.moderator ? make('span', { class: 'tag' }, 'moderator') : null,
    ),
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

export function showTyping() {
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

export function stopTyping(room, name) {
  clearTimeout(room.typing.get(name));
  room.typing.delete(name);
  if (room === state.current) showTyping();
}

export function rename(room, old, name) {
  if (!room.members.delete(old)) return;
  room.members.add(name);
  if (room.moderator === old) room.moderator = name;
  stopTyping(room, old);
  if (room === state.current) showPeople();
}

export function showBanner(message, label, action) {
  $('banner').hidden = message === '';
  $('banner-text').textContent = message;
  const button = $('banner-button');
  button.hidden = !label;
  button.textContent = label ?? '';
  button.onclick = action ?? null;
}
