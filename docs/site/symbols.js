/**
 * Index of public symbols: the one place where each is defined.
 *
 * - JavaScript: the heading in docs/api, which `make docs` writes. Some entry points share a name (`Rooms`, `configure`). It is resolved
 *   by the imports in the code of the page; without them it is ambiguous and gets no link.
 * - C functions: the row in docs/reference/c-reference.md.
 * - Error codes: the heading in docs/reference/errors.md.
 */
import { slugOf } from '../../scripts/lib/docs-anchors.js';
import { read } from '../../scripts/lib/paths.js';
import { addressOf, pages } from './pages.js';
import { namesOfRow, rowId } from './rows.js';

/** Code in prose that names a symbol: `batch`, `batch()`, `new Rooms(options)`. */
const NAMED = /^(?:new )?([A-Za-z_$][\w$]*)(\(.*\))?$/s;
const IMPORT = /import (?:type )?\{([^}]+)\} from '((?:@millrace|millrace)[^']*)'/g;

const exported = pages.filter((page) => page.startsWith('docs/api/')).flatMap(exportsOf);
const defined = new Map([
  ...rowsOf('docs/reference/c-reference.md', /^uv_\w+$/),
  ...codesOf('docs/reference/errors.md'),
]);

/**
 * @param {string} page that names symbols
 * @returns {(code: string) => string | undefined} address of the definition of what a piece of code names
 */
export function symbolsOf(page) {
  const imported = new Map();
  const modules = new Set();
  for (const [, names, module] of read(page).matchAll(IMPORT)) {
    modules.add(module);
    for (const name of names.split(',')) imported.set(name.trim().split(' ')[0], module);
  }
  return (code) => {
    const [, name, call] = NAMED.exec(code) ?? [];
    if (name === undefined) return undefined;
    if (defined.has(name)) return defined.get(name);
    // A word in lower case may be a value or an option.
    if (!call && !imported.has(name) && !/[a-z][A-Z]|^[A-Z][a-z]/.test(name)) return undefined;
    const all = exported.filter((each) => each.name === name);
    const own = all.filter(({ module }) =>
      imported.has(name) ? module === imported.get(name) : modules.has(module),
    );
    const [only, ...others] = own.length > 0 ? own : all;
    return others.length === 0 ? only?.address : undefined;
  };
}

/** Exports of an entry point: its headings of level 3. */
function exportsOf(page) {
  const [title, ...headings] = read(page).match(/^#{1,6} .*$/gm);
  const counts = new Map();
  return headings.flatMap((heading) => {
    const slug = slugOf(heading);
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    const [, name] = /^### (\w+)(?:\(\))?$/.exec(heading) ?? [];
    if (name === undefined) return [];
    const id = count === 0 ? slug : `${slug}-${count}`;
    return [{ name, module: title.slice(2), address: `${addressOf(page)}#${id}` }];
  });
}

/** Codes that have a heading on a page, with its address. */
function codesOf(page) {
  const headings = read(page).match(/^### [A-Z_]+$/gm) ?? [];
  return headings.map((heading) => [heading.slice(4), `${addressOf(page)}#${slugOf(heading)}`]);
}

/** Names that tables of a page define, with the address of the first row of each. */
function rowsOf(page, pattern) {
  const found = new Map();
  let head = null;
  for (const line of read(page).split('\n')) {
    const cells = line.startsWith('|') ? line.split(/(?<!\\)\|/).slice(1, -1) : null;
    if (cells === null) head = null;
    else if (head === null) head = cells;
    else {
      for (const name of namesOfRow(head, cells)) {
        if (pattern.test(name) && !found.has(name)) {
          found.set(name, `${addressOf(page)}#${rowId(name)}`);
        }
      }
    }
  }
  return found;
}
