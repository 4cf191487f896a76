/** The site that `make site` writes, of a few pages: headings, links, HTML, the menu, the folder. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { passOn } from '../site/html.js';
import { Links } from '../site/links.js';
import { pageOf } from '../site/markdown.js';
import { navigationOf, orderOf } from '../site/navigation.js';
import { hrefTo, placeOf } from '../site/pages.js';
import { makeSite } from '../site/site.js';
import { termsOf } from '../site/terms.js';
import { writeSite } from '../site/write.js';

const INDEX = '# Documents\n\n## Guides\n\n- [One](one.md): first, and [two](two.md)\n';
const site = (pages) =>
  new Map(Object.entries({ 'README.md': '# A', 'docs/README.md': INDEX, ...pages }));
const one = { 'docs/one.md': '# The first', 'docs/two.md': '# The second' };
const htmlOf = (markdown, path = 'docs/one.md') =>
  pageOf(path, markdown, new Links(site(one))).html;

test('headings have the anchors of a Markdown host, with a number when they repeat', () => {
  const { headings } = pageOf(
    'docs/one.md',
    '# A `b()`: c/d\n\n## Same\n\n## Same\n\n### [Linked](two.md) _x_\n',
    new Links(site(one)),
  );
  const ids = headings.map(({ id }) => id);
  assert.deepEqual(ids, ['a-b-cd', 'same', 'same-1', 'linked-x']);
});

test('a figure and its interval stay in one line', () => {
  const html = htmlOf('| ahead | peer |\n|---|---|\n| 34.6 (31.8 to 42.4) | ws (alone) |\n');
  assert.match(html, /<td class="interval">34\.6 \(31\.8 to 42\.4\)<\/td>\s*<td>ws/);
});

test('an interval alone stays in one line', () => {
  assert.match(htmlOf('| measured |\n|---|\n| 0.38–14.1× |\n'), /<td class="interval">0\.38/);
});

test('a number and its % stay in one line', () => {
  assert.match(htmlOf('It was 59 % and `7 %`.'), /59\u00a0% and <code>7 %<\/code>/);
});

test('links lead to the pages of the site, to files that it shows, or are text', () => {
  const links = new Links(site(one));
  const hrefs = (markdown) =>
    [...pageOf('docs/one.md', markdown, links).html.matchAll(/href="([^"]*)"/g)].map(
      ([, href]) => href,
    );
  assert.deepEqual(hrefs('[a](two.md#x) [b](../README.md) [c](#y) [d](https://example.org/)'), [
    'two.html#x',
    '../index.html',
    '#y',
    'https://example.org/',
  ]);
  assert.deepEqual(hrefs('[a](../c/include/uv_batch.h)'), ['../c/include/uv_batch.h.html']);
  assert.deepEqual([...links.shown], ['c/include/uv_batch.h']);
  assert.deepEqual(hrefs('[a folder](../scripts/lib)'), []);
  assert.match(htmlOf('[a folder](../scripts/lib)'), /<p>a folder<\/p>/);
  assert.deepEqual(links.broken, []);
});

test('what leads nowhere is named', async () => {
  const pages = site({
    'docs/one.md': '[a](three.md) [b](two.md#no) [c](ftp://x/) ![d](https://example.org/d.png)',
    'docs/two.md': '# Two',
    'docs/lost.md': '# Lost',
  });
  const { faults } = await makeSite(pages);
  assert.deepEqual(faults.sort(), [
    'docs/README.md does not lead to docs/lost.md',
    'docs/one.md links to ftp://x/, which is no address of the web',
    'docs/one.md links to three.md, which is not there',
    'docs/one.md links to two.md#no, which is no heading there',
    'docs/one.md shows https://example.org/d.png, which is no file of the repository',
  ]);
});

test('HTML in Markdown is shown as text, but for pictures and a few signs', () => {
  const image = (src) => `at/${src}`;
  assert.equal(
    passOn(
      '<picture><source media="(x)" srcset="d.png"><img src="l.png" alt="A" onerror="x()"></picture>',
      image,
    ),
    '<picture><source media="(x)" srcset="at/d.png"><img src="at/l.png" alt="A"></picture>',
  );
  assert.equal(
    passOn('<script>x("a")</script>', image),
    '&lt;script&gt;x(&quot;a&quot;)&lt;/script&gt;',
  );
  assert.equal(passOn('<a href="javascript:x">', image), '&lt;a href=&quot;javascript:x&quot;&gt;');
  assert.equal(passOn('<!-- <img src="x"> --><kbd>/</kbd><br/>', image), '<kbd>/</kbd><br>');
  assert.equal(
    passOn('<img src="a" onerror=alert(1)>', image),
    '&lt;img src=&quot;a&quot; onerror=alert(1)&gt;',
  );
  assert.doesNotMatch(
    htmlOf('a <script src="x"></script>\n\n<iframe src="x"></iframe>\n'),
    /<(script|iframe)/,
  );
  assert.match(htmlOf('[a](javascript:x)'), /\[a\]\(javascript:x\)/);
});

test('code is told apart by its language, and by what it looks like where it names none', () => {
  assert.match(htmlOf('```c\nint a;\n```'), /hljs-type">int</);
  assert.match(htmlOf('    const a = 1;'), /hljs-keyword">const</);
  assert.match(htmlOf('```\na < b\n```'), /<code>a &lt; b<\/code>/);
});

test('the menu has the order of the index, and below a README the pages of its folder', () => {
  const texts = site({
    ...one,
    'docs/README.md': `${INDEX}- [Names](api/README.md)\n\nAlso [two](../lab/README.md).\n`,
    'docs/api/README.md': '# API\n\n- [b](b.md)\n- [a](a.md)\n- [one](../one.md)\n',
    ...{ 'docs/api/a.md': '# a', 'docs/api/b.md': '# b', 'packages/lab/README.md': '# Lab' },
  });
  const links = new Links(texts);
  const pages = [...texts].map(([path, text]) => [path, pageOf(path, text, links)]);
  const sections = navigationOf(new Map(pages));
  assert.deepEqual(
    sections.map(({ title, entries }) => [title, ...entries.map(({ name }) => name)]),
    [
      ['Start', 'Overview', 'Documents'],
      ['Guides', 'One', 'two', 'Names'],
      ['In the repository', 'Lab'],
    ],
  );
  assert.deepEqual(orderOf(sections).slice(4, 7), [
    'docs/api/README.md',
    'docs/api/b.md',
    'docs/api/a.md',
  ]);
});

test('links are relative, so that the site can be in any folder', () => {
  assert.equal(placeOf('README.md'), 'index.html');
  assert.equal(placeOf('docs/api/README.md'), 'docs/api/index.html');
  assert.equal(hrefTo('docs/api/a.html', 'index.html'), '../../index.html');
});

test('a name of code is found whole and by its parts', () => {
  assert.deepEqual(termsOf('uv_batch_push'), ['uv_batch_push', 'uv', 'batch', 'push']);
  assert.deepEqual(termsOf('maxDelay'), ['maxdelay', 'max', 'delay']);
  assert.deepEqual(termsOf('word'), ['word']);
});

test('an earlier site is replaced, and a folder with anything else is left alone', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-site-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeSite(
    folder,
    new Map([
      ['a.html', 'a'],
      ['docs/b.html', 'b'],
    ]),
  );
  writeFileSync(join(folder, 'mine.txt'), 'mine');
  writeSite(folder, new Map([['docs/c.html', 'c']]));
  assert.deepEqual(readdirSync(join(folder, 'docs')), ['c.html']);
  assert.equal(readFileSync(join(folder, 'mine.txt'), 'utf8'), 'mine');
  rmSync(join(folder, '.millrace-site'));
  assert.throws(
    () => writeSite(folder, new Map()),
    /which has other files; name a new or an empty folder/,
  );
});
