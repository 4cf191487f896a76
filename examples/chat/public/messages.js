import { avatar, make, openMenu } from './elements.js';

const GROUP_MS = 5 * 60_000;
const LINK = /https?:\/\/[^\s<>"']+/g;

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'medium' });

/**
 * The list items for a room: day lines, notices, messages grouped by sender, what is still being sent.
 * @param {RoomState} room
 * @param {{me, onRetry(item), onDelete(message), onDrop(item)}} context
 */
export function renderEntries(room, context) {
  const items = [];
  let previous = null;
  for (const entry of room.entries) {
    if (previous === null || !isSameDay(previous.at, entry.at)) {
      items.push(make('li', { class: 'day' }, make('span', {}, day.format(entry.at))));
      previous = null;
    }
    if (room.lastSeen !== null && entry.id > room.lastSeen && !(previous?.id > room.lastSeen)) {
      items.push(make('li', { class: 'unread-line' }, make('span', {}, 'New')));
      previous = null;
    }
    items.push(renderEntry(room, entry, previous, context));
    previous = entry;
  }
  for (const item of room.outbox) items.push(renderPending(item, previous, context));
  return items;
}

/** Renders an entry; `previous` decides whether it continues a group. */
export function renderEntry(room, entry, previous, context) {
  if (entry.kind) return make('li', { class: 'notice', data: { kind: entry.kind } }, entry.text);
  const continues =
    previous !== null &&
    !previous.kind &&
    previous.from === entry.from &&
    entry.at - previous.at < GROUP_MS;
  const item = make(
    'li',
    {
      class: `message${continues ? ' continues' : ''}${entry.from === context.me ? ' mine' : ''}`,
      data: { id: String(entry.id) },
    },
    continues ? null : avatar(entry.from),
    continues
      ? make('span', { class: 'hidden' }, `${entry.from}:`)
      : make(
          'div',
          { class: 'by' },
          make('span', { class: 'from', dir: 'auto' }, entry.from),
          time(entry.at),
        ),
    entry.file
      ? renderFile(entry.file)
      : make('div', { class: 'text', dir: 'auto' }, ...linked(entry.text)),
  );
  if (room.moderator === context.me) item.append(deleteButton(entry, context));
  return item;
}

function deleteButton(entry, context) {
  const button = make(
    'button',
    {
      class: 'more',
      'aria-label': `Moderate the message by ${entry.from}`,
      'aria-haspopup': 'menu',
      'aria-expanded': 'false',
    },
    '⋯',
  );
  button.onclick = () =>
    openMenu(button, [['Delete message', () => context.onDelete(entry), true]]);
  return button;
}

function renderPending(item, previous, context) {
  const continues = previous !== null && !previous.kind && previous.from === context.me;
  return make(
    'li',
    {
      class: `message mine pending${continues ? ' continues' : ''}${item.problem ? ' failed' : ''}`,
    },
    continues ? null : avatar(context.me),
    continues
      ? null
      : make('div', { class: 'by' }, make('span', { class: 'from', dir: 'auto' }, context.me)),
    make('div', { class: 'text', dir: 'auto' }, item.text),
    item.problem
      ? make(
          'div',
          { class: 'problem', role: 'alert' },
          `${item.problem} `,
          make('button', { class: 'link', onclick: () => context.onRetry(item) }, 'Send again'),
          ' ',
          make('button', { class: 'link', onclick: () => context.onDrop(item) }, 'Discard'),
        )
      : null,
  );
}

function renderFile({ name, size, type, url }) {
  const isImage = type.startsWith('image/');
  return make(
    'a',
    { class: isImage ? 'file image' : 'file', href: url, download: name },
    isImage
      ? make('img', { src: url, alt: `Picture: ${name}`, loading: 'lazy' })
      : make('span', { class: 'file-icon', 'aria-hidden': 'true' }, extension(name)),
    make(
      'span',
      { class: 'file-text' },
      make('span', { class: 'file-name', dir: 'auto' }, name),
      make('span', { class: 'quiet' }, bytes(size)),
    ),
  );
}

export function bytes(size) {
  if (size < 1024) return `${size} bytes`;
  const units = ['KB', 'MB', 'GB'];
  let value = size;
  let unit = -1;
  do {
    value /= 1024;
    unit += 1;
  } while (value >= 1024 && unit < units.length - 1);
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

function extension(name) {
  return (/\.([\p{L}\p{N}]{1,4})$/u.exec(name)?.[1] ?? 'file').toUpperCase();
}

function time(at) {
  return make(
    'time',
    { dateTime: new Date(at).toISOString(), title: full.format(at) },
    clock.format(at),
  );
}

function isSameDay(a, b) {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** Text with its http(s) addresses as links. */
function linked(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(LINK)) {
    const address = match[0].replace(/[.,;:!?)\]]+$/, '');
    if (!URL.canParse(address)) continue;
    parts.push(text.slice(end, match.index));
    parts.push(make('a', { href: address, target: '_blank', rel: 'noopener noreferrer' }, address));
    end = match.index + address.length;
  }
  parts.push(text.slice(end));
  return parts;
}
