import { ChatError } from './errors.js';
import { limits } from './limits.js';

// Lists of what is allowed, so that markup, control characters, bidi overrides, zero-width characters and path
// separators are refused without naming them.
const NAME =
  /^[\p{L}\p{N}\p{Extended_Pictographic}][\p{L}\p{M}\p{N}\p{Extended_Pictographic} ._-]*$/u;
const ROOM = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*$/u;
const STACKED_MARKS = /\p{M}{3}/u;

/** A nickname as it is shown: NFC, trimmed, single spaces. @throws {ChatError} bad_name */
export function parseName(value) {
  if (typeof value !== 'string') throw new ChatError('bad_name', 'A name is a string.');
  if (value.length > limits.nameLength * 4) throw tooLong('bad_name', 'A name', limits.nameLength);
  const name = value.normalize('NFC').trim().replace(/ +/g, ' ');
  if (name === '') throw new ChatError('bad_name', 'A name has at least one letter or digit.');
  if (name.length > limits.nameLength) throw tooLong('bad_name', 'A name', limits.nameLength);
  if (!NAME.test(name) || STACKED_MARKS.test(name)) {
    throw new ChatError(
      'bad_name',
      'A name starts with a letter, digit or emoji and goes on with those, spaces, dots, hyphens and underscores.',
    );
  }
  return name;
}

/** Key under which two names are the same: case, width and look-alike compatibility forms do not count. */
export function nameKey(name) {
  return name.normalize('NFKC').toLowerCase();
}

/** A room name in its one spelling (NFKC, lower case). @throws {ChatError} bad_room */
export function parseRoom(value) {
  if (typeof value !== 'string') throw new ChatError('bad_room', 'A room name is a string.');
  if (value.length > limits.roomLength * 4)
    throw tooLong('bad_room', 'A room name', limits.roomLength);
  const room = value.normalize('NFKC').toLowerCase();
  if (room.length > limits.roomLength) throw tooLong('bad_room', 'A room name', limits.roomLength);
  if (!ROOM.test(room) || STACKED_MARKS.test(room)) {
    throw new ChatError(
      'bad_room',
      'A room name starts with a letter or digit and goes on with letters, digits, hyphens and underscores.',
    );
  }
  return room;
}

/** A file name without folders and control characters, short enough for every file system; never used as a path. */
export function cleanFileName(value) {
  const name = String(value ?? '')
    .normalize('NFC')
    .replace(/^.*[/\\]/s, '')
    .replace(/\p{C}/gu, '')
    .trim()
    .slice(0, limits.fileNameLength)
    .toWellFormed();
  return name === '' || /^\.+$/.test(name) ? 'file' : name;
}

function tooLong(code, what, most) {
  return new ChatError(code, `${what} has at most ${most} characters.`);
}
