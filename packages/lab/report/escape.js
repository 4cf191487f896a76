/** Text that comes from elsewhere (names, commands, what a server printed) never becomes markup. */

const ENTITIES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Markup, as opposed to text. */
class Html {
  constructor(markup) {
    this.markup = markup;
  }

  toString() {
    return this.markup;
  }
}

/** Takes a text for markup as it is. */
export const markup = (text) => new Html(text);

/** A text for HTML, also within an attribute in quotes. */
export const escapeHtml = (text) =>
  String(text).replace(/[&<>"']/g, (character) => ENTITIES[character]);

/**
 * A template of HTML: what is put in is escaped, unless it is such a template itself. Lists are joined; null, false
 * and what is undefined are nothing.
 *
 * @returns {Html}
 */
export function html(strings, ...values) {
  return markup(String.raw({ raw: strings }, ...values.map(shown)));
}

function shown(value) {
  if (value === null || value === undefined || value === false) return '';
  if (Array.isArray(value)) return value.map(shown).join('');
  return value instanceof Html ? value.markup : escapeHtml(value);
}

/** A text for a paragraph or a cell of a table in Markdown: one line, nothing in it is markup. */
export const escapeMarkdown = (text) =>
  String(text)
    .replace(/\s+/g, ' ')
    .replace(/[\\`*_[\]|~#]/g, '\\$&')
    .replace(/[&<>]/g, (character) => ENTITIES[character]);
