/** Markdown as HTML, with the anchors that hosts of Markdown give to headings, and as the sections that search finds. */
import MarkdownIt from 'markdown-it';
import { slugOf } from '../../scripts/lib/docs-anchors.js';
import { highlight } from './highlight.js';
import { escapeHtml, passOn } from './html.js';

/**
 * @typedef {object} Page
 * @property {string} path of its file
 * @property {string} title
 * @property {string} html
 * @property {{ level: number, id: string, text: string }[]} headings
 * @property {Section[]} sections
 * @property {{ heading: string, page: string, text: string }[]} listed the pages that its lists link to, in order, what the links say, and
 *   the heading of level 2 above
 *
 * @typedef {object} Section
 * @property {string} id of its heading; '' before the first one
 * @property {string[]} trail the headings that it is under, and its own
 * @property {string} text
 */

const markdown = new MarkdownIt({ html: true, linkify: true });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const INTERVAL = /^[\d.,]+(?:–[\d.,]+×| \([\d.,]+ to [\d.,]+\))$/;

const { rules } = markdown.renderer;
rules.html_block = rules.html_inline = (tokens, i, _options, { path, links }) =>
  passOn(tokens[i].content, (src) => links.image(path, src));
rules.fence = rules.code_block = (tokens, i, _options, { path }) => {
  const { content, info } = tokens[i];
  const code = content.replace(/\n$/, '');
  return `<pre><code>${highlight(code, { fence: info.split(/\s/)[0], page: path })}</code></pre>\n`;
};
// A number and its % are read as one.
rules.text = (tokens, i) => escapeHtml(tokens[i].content.replace(/(\d) %/g, '$1\u00a0%'));
rules.table_open = () => '<div class="table"><table>\n';
rules.table_close = () => '</table></div>\n';
rules.td_open = (tokens, i, options, _env, renderer) => {
  // A figure and its interval are read as one.
  if (INTERVAL.test(tokens[i + 1].content)) tokens[i].attrSet('class', 'interval');
  return renderer.renderToken(tokens, i, options);
};
rules.heading_close = (tokens, i) => {
  const { tag } = tokens[i];
  const [id, text] = [tokens[i - 2].attrGet('id'), textOf(tokens[i - 1])];
  if (tag === 'h1') return '</h1>\n';
  const label = escapeHtml(`Link to “${text}”`);
  return ` <a class="anchor" href="#${id}" aria-label="${label}">#</a></${tag}>\n`;
};

/**
 * @param {string} path of the page
 * @param {string} text
 * @param {import('./links.js').Links} links
 * @returns {Page}
 */
export function pageOf(path, text, links) {
  const env = { path, links };
  const tokens = markdown.parse(text, env);
  const headings = nameHeadings(tokens);
  const listed = settleLinks(tokens, env);
  const title = headings[0]?.text ?? path;
  const html = markdown.renderer.render(tokens, markdown.options, env);
  return { path, title, html, headings, sections: sectionsOf(tokens), listed };
}

/** A name that was there before gets a number. */
function nameHeadings(tokens) {
  const counts = new Map();
  const headings = [];
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const text = textOf(tokens[i + 1]);
    const slug = slugOf(text);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    const id = count === 0 ? slug : `${slug}-${count}`;
    token.attrSet('id', id);
    headings.push({ level: Number(token.tag[1]), id, text });
  }
  return headings;
}

/** Has links and pictures name what is in the site. What can not be linked to stays as text. */
function settleLinks(tokens, { path, links }) {
  const listed = [];
  let heading = '';
  let lists = 0;
  for (const [i, { children, tag, type }] of tokens.entries()) {
    if (type === 'heading_open' && tag === 'h2') heading = textOf(tokens[i + 1]);
    if (type === 'bullet_list_open') lists++;
    if (type === 'bullet_list_close') lists--;
    const open = [];
    for (const [j, token] of (children ?? []).entries()) {
      if (token.type === 'image') token.attrSet('src', links.image(path, token.attrGet('src')));
      if (token.type === 'link_close') token.hidden = open.pop().hidden;
      if (token.type !== 'link_open') continue;
      open.push(token);
      const link = token.attrGet('href');
      const page = links.pageOf(path, link);
      if (lists > 0 && page !== undefined && !link.includes('#')) {
        listed.push({ heading, page, text: linkText(children, j) });
      }
      const href = links.resolve(path, link);
      if (href === null) token.hidden = true;
      else token.attrSet('href', href);
    }
  }
  return listed;
}

function linkText(tokens, start) {
  const end = tokens.findIndex(({ type }, i) => i > start && type === 'link_close');
  return tokens.slice(start, end).map(textOf).join('');
}

function sectionsOf(tokens) {
  const sections = [{ id: '', trail: [], text: '' }];
  let above = [];
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const level = Number(token.tag[1]);
      above = [
        ...above.filter((each) => each.level < level),
        { level, text: textOf(tokens[i + 1]) },
      ];
      sections.push({ id: token.attrGet('id'), trail: above.map(({ text }) => text), text: '' });
    } else if (tokens[i - 1]?.type !== 'heading_open') {
      const text = token.type === 'inline' ? textOf(token) : token.content;
      if (text && !token.type.startsWith('html')) sections.at(-1).text += ` ${text}`;
    }
  }
  return sections
    .map((section) => ({ ...section, text: section.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ trail, text }) => trail.length > 0 || text !== '');
}

/** What is read of an inline token. */
const textOf = ({ children, content }) =>
  children === null || children.length === 0
    ? content
    : children
        .filter(({ type }) => type !== 'html_inline')
        .map((child) => (/break$/.test(child.type) ? ' ' : textOf(child)))
        .join('');
