/**
 * Colours for a stream: they colour on a terminal, unless NO_COLOR is set.
 *
 * @param {import('node:tty').WriteStream} out
 */
export function colours(out) {
  const isColoured = Boolean(out.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb');
  const paint = (code) => (text) => (isColoured ? `\x1b[${code}m${text}\x1b[0m` : text);
  return { bold: paint(1), dim: paint(2), red: paint(31), green: paint(32) };
}
