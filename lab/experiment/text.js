/** Text for a terminal, 100 columns wide. */

export const WIDTH = 100;

/** Breaks a text between words; lines that it has already stay. */
export function wrap(text, indent = '') {
  const width = WIDTH - indent.length;
  return text
    .split('\n')
    .map((line) =>
      line.replace(new RegExp(`(.{1,${width}})(?: |$)`, 'g'), `${indent}$1\n`).replace(/\n$/, ''),
    )
    .join('\n');
}

/** Cuts what is longer. */
export const clip = (text, width) => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);
