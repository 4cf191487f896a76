/** Colours of text: on terminals, unless NO_COLOR is set or the terminal has none. */
import { isatty } from 'node:tty';

export type Paint = (text: string) => string;

export interface Colours {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** For what is written to a file descriptor. */
export function colours(descriptor: number): Colours {
  const { NO_COLOR, TERM } = process.env;
  const isColoured = isatty(descriptor) && !NO_COLOR && TERM !== 'dumb';
  const paint =
    (code: number): Paint =>
    (text) =>
      isColoured ? `\x1b[${code}m${text}\x1b[0m` : text;
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32), yellow: paint(33) };
}
