/** Text for a terminal. */
import { wrapped } from '@millrace/base/text';

const terminal = process.stdout.columns ?? process.stderr.columns ?? Infinity;

/** 100 columns, fewer on a terminal that has fewer; a table needs most of 80. */
export const WIDTH = Math.max(80, Math.min(100, terminal));

/** Breaks a text between words; lines that it has already stay. */
export function wrap(text, indent = '') {
  return text
    .split('\n')
    .flatMap((line) => wrapped(line, WIDTH - indent.length))
    .map((line) => indent + line)
    .join('\n');
}

/** An entry of a list; on a terminal its lines are broken, and stand below each other. */
export const entry = (head, text) =>
  head + (process.stdout.isTTY ? wrap(text, ' '.repeat(head.length)).trimStart() : text);

/** Cuts what is longer. */
export const clip = (text, width) => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);
