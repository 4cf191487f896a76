/** Files of all kinds. */
import { randomBytes } from 'node:crypto';

const MB = 1024 * 1024;

export const BODIES = {
  empty: Buffer.alloc(0),
  'one newline': Buffer.from('\n'),
  'one byte': Buffer.from('x'),
  'newlines only': Buffer.alloc(2 * MB + 1, '\n'),
  'no newline': Buffer.alloc(3 * MB + 7, 'word '),
  'CRLF, the last line without': Buffer.from(`${'some words here\r\n'.repeat(100_000)}end`),
  binary: randomBytes(5 * MB + 3),
  // Longer than what one piece may have.
  'one long line between others': Buffer.concat([
    Buffer.from('short one\n'),
    Buffer.alloc(9 * MB, 'the longer words of one long line '),
    Buffer.from('\nanother short one\n'),
  ]),
};
