/** The site of this repository: every link leads somewhere, every page is in the menu, and search finds what is looked for. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import MiniSearch from 'minisearch';
import { chromium } from 'playwright-core';
import { executablePath, FLAGS } from '../../scripts/lib/chromium.js';
import { find } from '../site/client/find.js';
import { placeOf, readPages } from '../site/pages.js';
import { makeSite } from '../site/site.js';
import { INDEX } from '../site/terms.js';
import { writeSite } from '../site/write.js';
import { pale } from './lib/contrast.js';
import { deadLinks, readSite } from './lib/html.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-site-'));
let site;
let pages;
before(async () => {
  site = await makeSite();
  writeSite(folder, site.files);
  pages = readSite(folder);
});
after(() => rmSync(folder, { recursive: true }));

describe('the site', () => {
  test('is made without a fault', () => assert.deepEqual(site.faults, []));

  test('has every document, in the menu of the front page or below its README', () => {
    const documents = [...readPages().keys()];
    assert.ok(documents.length > 60, 'hardly a document was found');
    assert.deepEqual([...site.pages].sort(), documents.sort());
    const linksOf = (file) => {
      const links = pages.get(file).elements.filter(({ tag }) => tag === 'a');
      return links.map(({ attributes: { href } }) =>
        new URL(href, `file:///${file}`).pathname.slice(1),
      );
    };
    const reached = new Set([...linksOf('index.html'), ...linksOf('docs/api/index.html')]);
    const lost = documents.map(placeOf).filter((place) => !reached.has(place));
    assert.deepEqual(lost, []);
  });

  test('has only links that lead somewhere, and takes nothing from elsewhere', () => {
    const dead = [...pages.values()].flatMap((page) => deadLinks(folder, page, pages));
    assert.deepEqual(dead, []);
  });

  test('is HTML without faults, and runs no code but its own', () => {
    const all = [...pages.values()];
    assert.deepEqual(
      all.flatMap(({ errors }) => errors),
      [],
    );
    for (const { file, elements } of all) {
      const scripts = elements.filter(({ tag }) => tag === 'script');
      assert.equal(scripts.length, 1, file);
      assert.match(scripts[0].attributes.src, /^(\.\.\/)*site\.js$/);
      assert.equal(scripts[0].text, '', file);
      const names = elements.flatMap(({ attributes }) => Object.keys(attributes));
      assert.deepEqual(
        names.filter((name) => name.startsWith('on')),
        [],
        file,
      );
    }
  });

  test('has one title of the first level a page, landmarks, and a text for each picture', () => {
    for (const { file, elements } of pages.values()) {
      const count = (tag) => elements.filter((each) => each.tag === tag).length;
      assert.deepEqual([file, count('h1'), count('main'), count('header')], [file, 1, 1, 1]);
      for (const { tag, attributes } of elements) {
        if (tag === 'img') assert.ok(attributes.alt, `${file}: ${attributes.src} has no text`);
      }
    }
  });

  test('knows the addresses outside that it links to', () => {
    assert.ok(site.external.size > 3);
    for (const [link, from] of site.external) {
      assert.equal(new URL(link).protocol, 'https:', `${from}: ${link}`);
    }
  });
});

describe('search', () => {
  let index;
  before(() => {
    const self = {};
    runInNewContext(readFileSync(join(folder, 'search-index.js'), 'utf8'), { self });
    index = MiniSearch.loadJS(self.millraceIndex, INDEX);
  });
  const resultsOf = (text) => find(index, text).results;

  for (const word of ['maxDelay', 'uv_batch_push', 'MILLRACE_E_OVERLOADED', 'readFile']) {
    test(`finds ${word}, as it is written and not yet at its end`, () => {
      for (const typed of [word, word.toLowerCase(), word.slice(0, -1)]) {
        const results = resultsOf(typed);
        assert.ok(results.length > 0, typed);
        const texts = results.map(({ title, text }) => `${title} ${text}`.toLowerCase());
        assert.ok(
          texts.every((text) => text.includes(typed.toLowerCase())),
          typed,
        );
      }
    });
  }

  test('finds the guide by its heading before its mention', () => {
    assert.equal(resultsOf('survive overload')[0].href, 'docs/guides/overload.html');
    assert.ok(resultsOf('libuvbatch').some(({ href }) => href === 'docs/c.html'));
  });

  test('finds what is misspelt, and names by their parts', () => {
    assert.ok(resultsOf('overlod').some(({ href }) => href.startsWith('docs/guard.html')));
    const parts = resultsOf('uv_push_batch').map(({ text }) => text);
    assert.ok(parts.some((text) => text.includes('uv_batch_push')));
    assert.deepEqual(find(index, ' … '), { total: 0, results: [] });
  });

  test('leads to sections that are there', () => {
    for (const text of ['batch', 'limit', 'thread']) {
      for (const { href } of resultsOf(text)) {
        const [file, heading] = href.split('#');
        assert.ok(pages.has(file), href);
        assert.ok(heading === undefined || pages.get(file).ids.has(heading), href);
      }
    }
  });
});

if (!executablePath) {
  test('the site in a browser', {
    skip: process.env.CI !== 'true' && 'chromium is not installed',
  }, () => {
    assert.fail('chromium is not installed, and CI=true allows no skips');
  });
} else {
  describe('the site in a browser, from the disk', () => {
    let browser;
    before(async () => {
      browser = await chromium.launch({ executablePath, args: FLAGS });
    });
    after(() => browser?.close());

    /** A page of its own, which must ask for files of the site alone and report nothing. */
    async function visit(t, file, options) {
      const context = await browser.newContext(options);
      t.after(() => context.close());
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      const base = `${pathToFileURL(folder)}/`;
      page.problems = [];
      page.on('pageerror', (error) => page.problems.push(error.message));
      page.on('console', (message) => page.problems.push(message.text()));
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(base)) page.problems.push(url);
      });
      await page.goto(base + file);
      return page;
    }
    const option = (page, text) => page.locator('[role=option]', { hasText: text }).first();

    test('a word is typed, and a result is followed to its heading', async (t) => {
      const page = await visit(t, 'index.html');
      await page.keyboard.press('/');
      await page.keyboard.type('uv_batch_push');
      await option(page, 'The first batch').waitFor();
      assert.equal(await page.locator('mark').first().textContent(), 'uv_batch_push');
      const chosen = () => page.locator('[aria-selected=true] .title').textContent();
      const first = await chosen();
      await page.keyboard.press('ArrowDown');
      assert.notEqual(await chosen(), first);
      await page.keyboard.press('ArrowUp');
      assert.equal(await chosen(), first);
      const href = await page.locator('[aria-selected=true]').getAttribute('href');
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/${href}`);
      const heading = page.locator(`[id="${href.split('#')[1]}"]`);
      await heading.waitFor();
      const { y } = await heading.boundingBox();
      assert.ok(y >= 0 && y < 720, `the heading is at ${y}`);
      assert.deepEqual(page.problems, []);
    });

    test('what is misspelt is found; Escape closes the results', async (t) => {
      const page = await visit(t, 'docs/api/index.html');
      await page.keyboard.press('/');
      await page.keyboard.type('overlod');
      await option(page, /overload/i).waitFor();
      await page.keyboard.press('Escape');
      await page.waitForSelector('.found', { state: 'hidden' });
      assert.equal(await page.inputValue('#site-search'), '');
      await page.keyboard.type('a<b>"x');
      await page.waitForSelector('#site-status:not(:empty)');
      assert.deepEqual(page.problems, []);
    });

    for (const colorScheme of ['light', 'dark']) {
      test(`in ${colorScheme}, text stands out from what is behind it`, async (t) => {
        for (const file of ['docs/node.html', 'docs/api/millrace.html']) {
          const page = await visit(t, file, { colorScheme });
          assert.deepEqual(await page.evaluate(pale), []);
          assert.deepEqual(page.problems, []);
        }
      });
    }

    test('on a screen of 360 pixels tables scroll and the page does not, and the menu opens', async (t) => {
      const size = { viewport: { width: 360, height: 640 } };
      for (const file of [
        'index.html',
        'docs/node.html',
        'docs/results.html',
        'docs/api/pool.html',
      ]) {
        const page = await visit(t, file, size);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, file);
        await page.click('#site-menu-button');
        await page.locator('#site-menu [aria-current=page]').waitFor();
        await page.keyboard.press('Escape');
        await page.waitForSelector('#site-menu', { state: 'hidden' });
        assert.deepEqual(page.problems, []);
      }
      const page = await visit(t, 'docs/results.html', size);
      const wide = page.locator('.table[tabindex="0"]').first();
      await wide.waitFor({ state: 'attached' });
      assert.ok(await wide.evaluate((box) => box.scrollWidth > box.clientWidth));
    });
  });
}
