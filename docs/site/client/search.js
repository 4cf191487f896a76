/** The search field: results as one types, and the keys that lead through them. */
import { excerpt, withMarks } from './excerpt.js';
import { find } from './find.js';
import { load } from './load.js';

const root = document.documentElement.dataset.root;
const input = document.getElementById('site-search');
const list = document.getElementById('site-results');
const status = document.getElementById('site-status');
let chosen = -1;
let last = 0;

export function startSearch() {
  input.addEventListener('focus', () => load(root).catch(complain));
  input.addEventListener('input', () => update().catch(complain));
  input.addEventListener('keydown', onKey);
  document.addEventListener('keydown', onSlash);
  document.addEventListener('click', ({ target }) => {
    if (!target.closest('.search')) close();
  });
  // A link to a heading of this page loads nothing.
  list.addEventListener('click', close);
}

async function update() {
  const text = input.value.trim();
  const number = ++last;
  const index = await load(root);
  // Something else has been typed in the meantime.
  if (number !== last) return;
  const { total, results } = find(index, text);
  list.replaceChildren(...results.map(option));
  choose(results.length > 0 ? 0 : -1);
  open(text !== '');
  status.textContent = summary(text, total, results.length);
}

function summary(text, total, shown) {
  if (text === '') return '';
  if (total === 0) return `Nothing is found for “${text}”.`;
  if (total === 1) return 'One result';
  return total > shown ? `The first ${shown} of ${total} results` : `${total} results`;
}

function option({ href, title, trail, text, terms }, number) {
  const found = new Set(terms);
  const link = element('a', {
    className: 'result',
    id: `site-result-${number}`,
    href: root + href,
  });
  link.setAttribute('role', 'option');
  link.tabIndex = -1;
  if (trail) link.append(element('span', { className: 'trail', textContent: trail }));
  const heading = element('span', { className: 'title' });
  heading.append(...withMarks(title, found));
  const part = element('span', { className: 'excerpt' });
  part.append(...excerpt(text, found));
  link.append(heading, part);
  return link;
}

const element = (name, properties) => Object.assign(document.createElement(name), properties);

function onKey(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === 'Escape') {
    if (input.value === '') input.blur();
    input.value = '';
    close();
  } else if (step && list.children.length > 0) {
    open(true);
    choose((chosen + step + list.children.length) % list.children.length);
  } else if (event.key === 'Enter') {
    list.children[chosen]?.click();
  } else {
    return;
  }
  event.preventDefault();
}

function onSlash(event) {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
  input.select();
}

function choose(number) {
  list.children[chosen]?.setAttribute('aria-selected', 'false');
  chosen = number;
  const option = list.children[chosen];
  option?.setAttribute('aria-selected', 'true');
  option?.scrollIntoView({ block: 'nearest' });
  if (option) input.setAttribute('aria-activedescendant', option.id);
  else input.removeAttribute('aria-activedescendant');
}

function open(isOpen) {
  list.parentElement.hidden = !isOpen;
  input.setAttribute('aria-expanded', String(isOpen));
}

function close() {
  open(false);
}

function complain() {
  open(true);
  status.textContent = 'The index of the search could not be loaded.';
}
