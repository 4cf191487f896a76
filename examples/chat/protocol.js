import { ChatError } from './errors.js';
import { limits } from './limits.js';
import { parseName, parseRoom } from './names.js';

// Everything but tab and line feed; U+0000 is not storable in every database.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the point
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/;

const readers = new Map([
  ['msg', (f) => ({ t: 'msg', room: parseRoom(f.room), text: parseText(f.text) })],
  ['typing', (f) => ({ t: 'typing', room: parseRoom(f.room), on: parseFlag(f.on) })],
  ['join', (f) => ({ t: 'join', room: parseRoom(f.room) })],
  ['leave', (f) => ({ t: 'leave', room: parseRoom(f.room) })],
  ['nick', (f) => ({ t: 'nick', name: parseName(f.name) })],
  ['mod', readModeration],
]);

/**
 * Turns one WebSocket frame into a command: `{t, room, …, ref}`.
 * @param {Buffer} data @param {boolean} isBinary
 * @throws {ChatError} with `ref` set where the frame had a usable one
 */
export function parseFrame(data, isBinary) {
  if (isBinary) throw new ChatError('binary_frame', 'Frames are JSON text, not binary.');
  let frame;
  try {
    frame = JSON.parse(data.toString());
  } catch {
    throw new ChatError('bad_json', 'This frame is not valid JSON.');
  }
  if (frame === null || typeof frame !== 'object' || Array.isArray(frame)) {
    throw new ChatError('bad_frame', 'A frame is a JSON object with a field "t".');
  }
  const ref = parseRef(frame.ref);
  try {
    const read = readers.get(frame.t);
    if (read === undefined) {
      throw new ChatError(
        'unknown_type',
        `The field "t" is one of ${[...readers.keys()].join(', ')}.`,
      );
    }
    const command = read(frame);
    command.ref = ref;
    return command;
  } catch (error) {
    error.ref = ref;
    throw error;
  }
}

/** The text of a message. @throws {ChatError} bad_text, text_too_long */
export function parseText(value) {
  if (typeof value !== 'string')
    throw new ChatError('bad_text', 'The text of a message is a string.');
  if (value.length > limits.textLength) {
    throw new ChatError(
      'text_too_long',
      `A message has at most ${limits.textLength} characters; this one has ${value.length}.`,
    );
  }
  if (value.trim() === '') throw new ChatError('bad_text', 'A message is not empty.');
  if (CONTROL.test(value) || !value.isWellFormed()) {
    throw new ChatError('bad_text', 'A message holds no control characters and no broken Unicode.');
  }
  return value;
}

/** A message id from a frame, path or query. @throws {ChatError} bad_target */
export function parseMessageId(value) {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (!Number.isSafeInteger(id) || id < 1) {
    throw new ChatError('bad_target', 'A message id is a positive whole number.');
  }
  return id;
}

function readModeration(f) {
  const room = parseRoom(f.room);
  switch (f.action) {
    case 'kick':
    case 'mute':
    case 'unmute':
      return { t: 'mod', room, action: f.action, target: parseName(f.target) };
    case 'delete':
      return { t: 'mod', room, action: f.action, target: parseMessageId(f.target) };
    default:
      throw new ChatError('bad_action', 'The action is one of kick, mute, unmute, delete.');
  }
}

function parseFlag(value) {
  if (typeof value !== 'boolean')
    throw new ChatError('bad_frame', 'The field "on" is true or false.');
  return value;
}

function parseRef(value) {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length > limits.refLength) {
    throw new ChatError('bad_ref', `A ref is a string of at most ${limits.refLength} characters.`);
  }
  return value;
}
