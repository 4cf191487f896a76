/** Names that users choose, as tokens of a NATS subject: none can reach a subject that is not its own. */
import { createHash } from 'node:crypto';

/** Characters of a token; NATS takes subjects up to the length of its control line, 4096 by default. */
const maxToken = 200;
const plain = /^[\w-]+$/;

/**
 * A token for any string: letters, digits, `-` and `_` stand for themselves, every other byte of its UTF-8 is written as
 * `=` and two hexadecimal digits, and what would become too long is `==` and its SHA-256. Different strings have
 * different tokens.
 */
export function token(name: string): string {
  if (name.length <= maxToken && plain.test(name)) return name;
  const bytes = Buffer.from(name);
  // A lone surrogate has no UTF-8, and two such names must not share a token.
  if (bytes.toString() !== name) return `==u${hash(Buffer.from(name, 'utf16le'))}`;
  const escaped = bytes.length <= maxToken ? spelled(bytes) : null;
  return escaped !== null && escaped.length <= maxToken ? escaped : `==${hash(bytes)}`;
}

function spelled(bytes: Buffer): string {
  let escaped = '';
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    escaped += plain.test(character) ? character : `=${byte.toString(16).padStart(2, '0')}`;
  }
  // A token has at least one character.
  return escaped === '' ? '=' : escaped;
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url');
