import { $, avatar, make, openMenu } from './elements.js';
import { connection } from './link.js';
import { showLog } from './log.js';
import { state } from './state.js';

/** What is shown around the messages: rooms, people, who is typing, the room's name, the banner. */

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
  $('send').disabled = room === null;
  $('attach').disabled = room === null;
  showLog(true);
  showRooms();
  showPeople();
  showTyping();
}

export function showPeople() {
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
