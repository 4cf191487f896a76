/** A page of the site around what it shows. */
import { escapeHtml } from './html.js';
import { flat, orderOf } from './navigation.js';
import { hrefTo, placeOf } from './pages.js';

/**
 * @typedef {object} Site what all pages have in common
 * @property {string} name
 * @property {string} version
 * @property {import('./navigation.js').Section[]} sections
 * @property {Map<string, import('./markdown.js').Page>} pages
 */

/**
 * @param {Site} site
 * @param {{ path: string, title: string, html: string, headings: object[] }} page
 * @returns {string} HTML
 */
export function wholePage(site, page) {
  const place = placeOf(page.path);
  const root = hrefTo(place, 'index.html').replace(/index\.html$/, '');
  const isFront = page.path === 'README.md';
  const title = isFront ? site.name : `${page.title} · ${site.name}`;
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}style.css">
<script src="${root}site.js" defer></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the text</a>
<header class="top">
<a class="brand" href="${root}index.html">${escapeHtml(site.name)}</a>
${SEARCH}
<button type="button" class="menu-button" id="site-menu-button" aria-controls="site-menu" aria-expanded="false">Pages</button>
</header>
<div class="columns">
<nav id="site-menu" class="menu" aria-label="Pages">
${site.sections.map((section) => menuSection(section, page.path)).join('\n')}
</nav>
<main id="site-content" tabindex="-1">
<article>
${page.html}</article>
${neighbours(site, page.path)}
<footer><p>Made from <code>${escapeHtml(page.path)}</code> of ${escapeHtml(site.name)} ${escapeHtml(site.version)}</p></footer>
</main>
${contents(page)}
</div>
</body>
</html>
`;
}

const SEARCH = `<search class="search">
<input type="search" id="site-search" placeholder="Search" aria-label="Search, by the key /" autocomplete="off" spellcheck="false"
role="combobox" aria-expanded="false" aria-controls="site-results" aria-autocomplete="list" aria-keyshortcuts="/">
<div class="found" hidden>
<p id="site-status" role="status"></p>
<div id="site-results" role="listbox" aria-label="Results"></div>
</div>
</search>`;

/** A section is open when it has the page; on the front page all are. */
function menuSection({ title, entries }, current) {
  const isOpen = current === 'README.md' || flat(entries).includes(current);
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary>
${menuList(entries, current)}
</details>`;
}

function menuList(entries, current) {
  const items = entries.map(({ path, name, children }) => {
    const isNear = path === current || flat(children).includes(current);
    const below = isNear && children.length > 0 ? `\n${menuList(children, current)}\n` : '';
    return `<li>${link(path, name, current)}${below}</li>`;
  });
  return `<ul>\n${items.join('\n')}\n</ul>`;
}

function link(path, name, current) {
  const mark = path === current ? ' aria-current="page"' : '';
  return `<a href="${hrefTo(placeOf(current), placeOf(path))}"${mark}>${escapeHtml(name)}</a>`;
}

/** The pages before and after this one. A file that is shown has none. */
function neighbours(site, current) {
  const order = orderOf(site.sections);
  const at = order.indexOf(current);
  if (at < 0) return '';
  const step = (path, label) =>
    path === undefined
      ? ''
      : `<div class="${label.toLowerCase()}"><span>${label}</span> ${link(path, site.pages.get(path).title, current)}</div>`;
  return `<nav class="steps" aria-label="Previous and next page">
${step(order[at - 1], 'Previous')}${step(order[at + 1], 'Next')}
</nav>`;
}

/** The headings of two levels; one alone needs no list. */
function contents({ headings }) {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ level, id, text }) =>
      `<li class="level-${level}"><a href="#${encodeURI(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-labelledby="site-contents">
<p id="site-contents">On this page</p>
<ul>
${items.join('\n')}
</ul>
</nav>`;
}
