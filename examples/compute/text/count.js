/**
 * Counts of a text that can be joined: of any two pieces that follow one another, wherever they were cut, the counts of both
 * make those of the whole.
 */
import { crc32 } from 'node:zlib';
import { joinCrc32 } from './crc32.js';

const NEWLINE = 10;

/** 1 for a byte that is white space, as isspace() in the C locale has it. */
const SPACE = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\v\f\r')) SPACE[byte] = 1;

/** Of nothing. */
export const NONE = {
  bytes: 0,
  lines: 0,
  words: 0,
  longestLine: 0,
  head: 0,
  tail: 0,
  startsInWord: false,
  endsInWord: false,
  crc32: 0,
};

/**
 * `lines` are newlines and `words` runs of bytes that are not white space, as wc has them. `longestLine` is in bytes, without
 * its newline. `head` and `tail` are what is before the first newline and behind the last: all of it when there is none.
 *
 * @param {Uint8Array} piece
 */
export function count(piece) {
  if (piece.length === 0) return NONE;
  let lines = 0;
  let words = 0;
  let wasSpace = 1;
  let lineStart = 0;
  let head = piece.length;
  let longestLine = 0;
  for (let at = 0; at < piece.length; at += 1) {
    const byte = piece[at];
    const isSpace = SPACE[byte];
    words += wasSpace & (isSpace ^ 1);
    wasSpace = isSpace;
    if (byte === NEWLINE) {
      if (lines === 0) head = at;
      lines += 1;
      if (at - lineStart > longestLine) longestLine = at - lineStart;
      lineStart = at + 1;
    }
  }
  const tail = piece.length - lineStart;
  return {
    bytes: piece.length,
    lines,
    words,
    longestLine: Math.max(longestLine, tail),
    head,
    tail,
    startsInWord: SPACE[piece[0]] === 0,
    endsInWord: wasSpace === 0,
    crc32: crc32(piece),
  };
}

/** Joins the counts of a piece and the one behind it. */
export function join(a, b) {
  if (a.bytes === 0) return b;
  if (b.bytes === 0) return a;
  return {
    bytes: a.bytes + b.bytes,
    lines: a.lines + b.lines,
    words: a.words + b.words - (a.endsInWord && b.startsInWord ? 1 : 0),
    longestLine: Math.max(a.longestLine, b.longestLine, a.tail + b.head),
    head: a.lines === 0 ? a.bytes + b.head : a.head,
    tail: b.lines === 0 ? a.tail + b.bytes : b.tail,
    startsInWord: a.startsInWord,
    endsInWord: b.endsInWord,
    crc32: joinCrc32(a.crc32, b.crc32, b.bytes),
  };
}
