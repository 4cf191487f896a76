/** Additions of the site to Markdown, its menu and the terms of its search. site.long.test.js builds the site and visits it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import MarkdownIt from 'markdown-it';
import { read, root } from '../../scripts/lib/paths.js';
import { landing } from '../site/landing.js';
import { linkedFiles, siteMarkdown } from '../site/markdown.js';
import { editPattern, flat, navigation } from '../site/navigation.js';
import { pages } from '../site/pages.js';
import { processTerm, tokenize, withRows } from '../site/search.js';
import { symbolsOf } from '../site/symbols.js';

const markdown = new MarkdownIt({ html: true }).use(siteMarkdown);
const render = (text, page = 'docs/reference/guard.md') =>
  markdown.render(text, { path: join(root, page) });
const hrefs = (html) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);

describe('navigation', () => {
  test('has every page once', () => {
    const listed = flat(navigation()).map(({ page }) => page);
    assert.ok(listed.length > 70);
    assert.deepEqual(listed.toSorted(), pages.toSorted());
  });

  test('has the groups of docs/README.md in their order, and API pages below theirs', () => {
    const groups = navigation();
    const headings = [...read('docs/README.md').matchAll(/^## (.*)$/gm)].map(([, text]) => text);
    assert.deepEqual(
      groups.slice(1, -1).map(({ text }) => text),
      headings,
    );
    const api = flat(groups).find(({ page }) => page === 'docs/api/README.md');
    assert.equal(api.link, '/docs/api/');
    const below = groups.flatMap(({ items }) => items).find(({ page }) => page === api.page).items;
    assert.ok(below.some(({ link }) => link === '/docs/api/ws/socket-io'));
  });
});

test('a page is edited in the repository of package.json, if it names one', () => {
  const pattern = 'https://example.org/a/b/edit/main/:path';
  assert.equal(editPattern({ type: 'git', url: 'git+https://example.org/a/b.git' }), pattern);
  assert.equal(editPattern('https://example.org/a/b'), pattern);
  assert.equal(editPattern(undefined), undefined);
});

describe('a link', () => {
  test('to Markdown or to a folder with a README leads to its page', () => {
    const html = render(
      '[a](pool.md#memory) [b](../../README.md) [c](../../c) [d](#options) [e](../api/README.md)',
    );
    const links = ['/docs/reference/pool#memory', '/', '/c/', '#options', '/docs/api/'];
    assert.deepEqual(hrefs(html), links);
  });

  test('to another file leads to its text, which the site has', () => {
    assert.deepEqual(hrefs(render('[a](../../Makefile)')), ['/source/Makefile.txt']);
    assert.ok(linkedFiles.has('Makefile'));
  });

  test('to a folder without a page is text', () => {
    assert.equal(render('[a](../test)'), '<p>a</p>\n');
  });

  test('to a missing file stops the build', () => {
    assert.throws(
      () => render('[a](nothing.js)'),
      /docs\/reference\/guard\.md links to nothing\.js/,
    );
  });
});

describe('code', () => {
  test('gets its language', () => {
    assert.match(render('    const a = 1;\n'), /class="language-js"/);
    assert.match(render('```\n<html>\n```\n'), /<pre><code>&lt;html/);
  });

  test('in fences with titles that follow each other becomes one group of tabs', () => {
    const two = '```js [Node.js]\n1\n```\n\n```go [Go]\n2\n```\n';
    const groups = (text) => render(text).match(/<div>/g)?.length ?? 0;
    assert.equal(groups(`${two}\ntext\n\n${two}`), 2);
    assert.equal(groups('```js [Node.js]\n1\n```\n\n```go\n2\n```\n'), 0);
  });

  test('that names a public symbol leads to its definition', () => {
    const links = (text) => hrefs(render(text));
    assert.deepEqual(links('`guard(server)` and `GuardOptions`'), [
      '/docs/api/guard#guard',
      '/docs/api/guard#guardoptions',
    ]);
    assert.deepEqual(links('`MILLRACE_E_CLOSED`'), ['/docs/reference/errors#millrace_e_closed']);
    assert.deepEqual(links('`uv_batch_push()`'), ['/docs/reference/c-reference#row-uv_batch_push']);
    assert.deepEqual(links('# `guard()`\n\n[`guard()`](pool.md)\n\n`high`'), [
      '/docs/reference/pool',
    ]);
  });

  test('with a name of two entry points follows the imports of the page', () => {
    assert.equal(
      symbolsOf('docs/reference/guard.md')('GuardSettings'),
      '/docs/api/guard#guardsettings',
    );
    assert.equal(symbolsOf('docs/reference/pool.md')('GuardSettings'), undefined);
  });
});

describe('a row', () => {
  test('that defines a name has an id, with a number from the second on', () => {
    const table = '| option | unit |\n|---|---|\n| `maxDelay` | ms |\n';
    const html = render(`${table}\n${table}\n| figure | unit |\n|---|---|\n| \`other\` | ms |\n`);
    assert.deepEqual(
      [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id),
      ['row-maxDelay', 'row-maxDelay-1'],
    );
  });

  test('is a section of the search, below the one of its table', () => {
    const html =
      '<h2 id="a">A</h2><table><tr><td><code id="row-b">b</code></td></tr></table><h2 id="c">C</h2>';
    assert.match(
      withRows(html),
      /<\/table><h3>b <a href="#row-b"><\/a><\/h3><tr>.*<\/tr><h2 id="c">/,
    );
  });
});

test('a figure stays in one line with its interval, and a number with its %', () => {
  assert.match(
    render('| ahead |\n|---|\n| 34.6 (31.8 to 42.4) |\n'),
    /<td class="interval">34\.6 \(31\.8 to 42\.4\)/,
  );
  assert.match(render('59 % of it'), /59\u00a0% of it/);
});

test('a picture for light and dark follows the switch of the site', () => {
  const html = render(/<picture>[\s\S]*?<\/picture>/.exec(read('README.md'))[0], 'README.md');
  assert.match(html, /class="only-light".* src="\.\/docs\/images\//);
  assert.match(html, /class="only-dark".* src="\.\/docs\/images\//);
});

test('terms of the search are names and their parts, without words that mean nothing alone', () => {
  assert.deepEqual(processTerm('uv_batch_push'), ['uv_batch_push', 'uv', 'batch', 'push']);
  assert.deepEqual(processTerm('maxDelay'), ['maxdelay', 'max', 'delay']);
  assert.equal(processTerm('What'), null);
  assert.deepEqual(tokenize('`maxDelay`: 0, max.'), ['maxDelay', '0', 'max']);
});

test('the first page has figures of the measured table, flattering and sober', () => {
  const { features } = landing();
  assert.equal(features.length, 6);
  for (const { details, link } of features) {
    const [figure] = /<b>[\d.]+×/.exec(details) ?? [];
    assert.ok(figure && read('README.md').includes(` ${figure.slice(3, -1)} (`), details);
    const page = link.slice(1).replace(/#.*/, '');
    assert.ok(pages.includes(`${page}.md`), link);
  }
});
