/** Text as HTML, and what of the HTML in Markdown is passed on. */

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** @param {string} text for content, or for an attribute in double quotes */
export const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => ENTITIES[character]);

/** A picture for light and dark, lines and keys: what Markdown has no sign for. */
const ALLOWED = {
  ...{ picture: [], source: ['media', 'srcset'], img: ['src', 'alt', 'width', 'height'] },
  ...{ br: [], kbd: [], sub: [], sup: [], details: ['open'], summary: [] },
};
const TAG = /<(\/?)([a-z]+)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>/g;
const COMMENT = /<!--[\s\S]*?-->/g;

/**
 * HTML that stands in Markdown: tags and attributes that the lists above have are kept, all others are shown as text.
 *
 * @param {string} html
 * @param {(src: string) => string} image where a picture is in the site
 * @returns {string}
 */
export function passOn(html, image) {
  let result = '';
  let end = 0;
  const text = html.replace(COMMENT, '');
  for (const { 0: tag, 1: slash, 2: name, 3: given, index } of text.matchAll(TAG)) {
    result += escapeHtml(text.slice(end, index));
    end = index + tag.length;
    result += Object.hasOwn(ALLOWED, name)
      ? `<${slash}${name}${kept(name, given, image)}>`
      : escapeHtml(tag);
  }
  return result + escapeHtml(text.slice(end));
}

const kept = (name, given, image) =>
  [...given.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)]
    .filter(([, key]) => ALLOWED[name].includes(key))
    .map(
      ([, key, value = '']) => ` ${key}="${/^src/.test(key) ? escapeHtml(image(value)) : value}"`,
    )
    .join('');
