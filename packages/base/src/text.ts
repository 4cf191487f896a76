/** Text for terminals: broken between words, and coloured. */
import { isatty } from 'node:tty';

/** The lines of a text that is broken between words; a word that is longer than `width` stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

export type Paint = (text: string) => string;

/** Reports whether colours show on a file descriptor or stream: it is a terminal that has some, and NO_COLOR is not set. */
export function isColoured(out: number | { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR, TERM } = process.env;
  const isTerminal = typeof out === 'number' ? isatty(out) : Boolean(out.isTTY);
  return isTerminal && !NO_COLOR && TERM !== 'dumb';
}

/** Makes functions that paint in a colour or weight, by its number (1: bold, 2: dim, 31: red); without colours they change nothing. */
export const painter =
  (coloured: boolean) =>
  (code: number): Paint =>
  (text) =>
    coloured ? `\x1b[${code}m${text}\x1b[0m` : text;
