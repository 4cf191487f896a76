/**
 * Common frame of all drawn pictures. Each is an SVG without scripts that follows the reader's light or dark colours, with its text
 * alternative inside. They are 440 units wide with letters of 12 and 13, so that a phone of 390 pixels shows them at four fifths of
 * their size, which is still readable.
 */

export const width = 440;
/** Units per letter of the small text, on average: texts are wrapped by it, as there is no browser to ask. */
const letter = 6.1;
export const lineHeight = 15;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 14px; font-weight: 600; }
  .strong { font-weight: 600; }
  .quiet { fill: #59636e; }
  .good { fill: #0969da; stroke: #0969da; }
  .bad { fill: #bc4c00; stroke: #bc4c00; }
  .other { fill: #818b98; stroke: #818b98; }
  .open { fill: #ffffff; }
  .grid { stroke: #d1d9e0; }
  .limit { stroke: #59636e; stroke-dasharray: 3 3; }
  .box { fill: #f6f8fa; stroke: #818b98; }
  .act { fill: #ddf4ff; stroke: #0969da; }
  .arrow { fill: none; stroke: #59636e; stroke-width: 1.5; }
  .ground { fill: #ffffff; }
  text.good, text.bad { stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .quiet { fill: #9198a1; }
    .good { fill: #4493f8; stroke: #4493f8; }
    .bad { fill: #f0883e; stroke: #f0883e; }
    .other { fill: #9198a1; stroke: #9198a1; }
    .open, .ground { fill: #0d1117; }
    .grid { stroke: #3d444d; }
    .limit, .arrow { stroke: #9198a1; }
    .box { fill: #151b23; stroke: #656c76; }
    .act { fill: #121d2f; stroke: #4493f8; }
  }`;

/**
 * Returns a whole picture.
 *
 * @param {object} parts
 * @param {string} parts.title short, for everybody
 * @param {string} parts.description the text alternative: a sentence or two about what there is to see
 * @param {number} parts.height
 * @param {string[]} parts.body
 */
export const svg = ({
  title,
  description,
  height,
  body,
}) => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${style}
</style>
<rect class="ground" width="${width}" height="${height}"/>
${text(0, 16, title, 'title')}
${body.join('\n')}
</svg>
`;

/** @param {'start' | 'middle' | 'end'} [anchor] */
export const text = (x, y, words, kind = '', anchor = 'start') =>
  `<text x="${at(x)}" y="${at(y)}"${kind && ` class="${kind}"`}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}>${escaped(words)}</text>`;

export const line = (x1, y1, x2, y2, kind, thickness = 1) =>
  `<line class="${kind}" x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}" stroke-width="${thickness}"/>`;

export const bar = (x, y, length, height, kind) =>
  `<rect class="${kind}" x="${at(x)}" y="${at(y)}" width="${at(Math.max(1, length))}" height="${height}" stroke="none"/>`;

export const dot = (x, y, kind, r = 4) =>
  `<circle class="${kind}" cx="${at(x)}" cy="${at(y)}" r="${r}" stroke-width="1.5"/>`;

/** Returns a mark with a tooltip. */
export const titled = (mark, words) =>
  mark.replace('/>', `><title>${escaped(words)}</title></circle>`);

/** Wraps words into lines of at most this many units. Bold ones take a seventh more. */
export function wrapped(words, units, isStrong = false) {
  const most = Math.floor(units / (isStrong ? letter * 1.15 : letter));
  const lines = [];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`.trim();
    if (lines.length > 0 && longer.length <= most) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Returns a scale for an axis from `from` to `to` units. @returns {(value: number) => number} */
export const linear = ([least, most], from, to) => {
  return (value) => from + ((to - from) * (value - least)) / (most - least);
};
export const logarithmic = ([least, most], from, to) => {
  const place = linear([Math.log(least), Math.log(most)], from, to);
  return (value) => place(Math.log(value));
};

/** Removes Markdown's code marks. */
export const plain = (words) => words.replaceAll('`', '');

const at = (value) => Math.round(value * 10) / 10;
const escaped = (words) =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
