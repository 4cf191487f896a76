/** The built site: every page is there, every link and anchor leads somewhere, search finds what readers ask, phones need no sideways scrolling. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { executablePath, FLAGS } from '../../scripts/lib/chromium.js';
import { root } from '../../scripts/lib/paths.js';
import { addressOf, pages } from '../site/pages.js';
import { search } from '../site/search.js';
import { pale } from './lib/contrast.js';
import { deadLinks, readSite } from './lib/html.js';

/** File of the site for an address without a host. */
const fileOf = (address) => `${address.slice(1)}${address.endsWith('/') ? 'index' : ''}.html`;

const folder = mkdtempSync(join(tmpdir(), 'millrace-site-'));
let site;
before(async () => {
  await promisify(execFile)(process.execPath, ['scripts/site.js'], {
    cwd: root,
    env: { ...process.env, OUT: folder },
    timeout: 500_000,
  });
  site = readSite(folder);
});
after(() => rmSync(folder, { recursive: true }));

describe('the site', () => {
  test('has a page for each Markdown file of the repository, and one for wrong addresses', () => {
    const files = pages.map((page) => fileOf(addressOf(page)));
    assert.ok(files.length > 70);
    assert.deepEqual([...site.keys()].sort(), [...files, '404.html'].sort());
  });

  test('has only links and anchors that lead somewhere, and takes nothing from elsewhere', () => {
    assert.deepEqual(
      [...site.values()].flatMap((page) => deadLinks(folder, page, site)),
      [],
    );
  });

  test('has no id twice on a page, and one visible title', () => {
    for (const { file, errors, elements } of site.values()) {
      assert.deepEqual(errors, [], file);
      if (file === '404.html') continue;
      const titles = elements.filter(({ tag }) => tag === 'h1');
      // The head of the first page stands for the title of its text.
      assert.equal(titles.length, file === 'index.html' ? 2 : 1, file);
    }
  });

  test('has tabs for Node.js, C and Go, and a button that copies each block', () => {
    const { elements } = site.get('docs/getting-started.html');
    const labels = elements.filter(({ tag }) => tag === 'label').map(({ text }) => text);
    assert.deepEqual(labels, ['Node.js', 'C', 'Go', 'Node.js', 'C', 'Go']);
    const count = (wanted) => elements.filter(wanted).length;
    assert.equal(
      count(({ tag, attributes }) => tag === 'button' && attributes.class === 'copy'),
      count(({ tag }) => tag === 'pre'),
    );
  });
});

describe('search', () => {
  let index;
  before(async () => {
    const { default: MiniSearch } = await import(
      pathToFileURL(createRequire(join(root, 'docs/site/package.json')).resolve('minisearch'))
    );
    const chunks = join(folder, 'assets/chunks');
    const name = readdirSync(chunks).find((each) => each.startsWith('@localSearchIndexroot'));
    const { default: json } = await import(pathToFileURL(join(chunks, name)));
    index = MiniSearch.loadJSON(json, {
      fields: ['title', 'titles', 'text'],
      storeFields: ['title', 'titles'],
      searchOptions: search.miniSearch.searchOptions,
      ...search.miniSearch.options,
    });
  });

  const first = {
    install: '/docs/getting-started.html#install',
    'getting started': '/docs/getting-started.html#getting-started',
    batch: '/docs/reference/millrace.html#batch',
    maxDelay: '/docs/reference/millrace.html#row-maxDelay',
    maxdelay: '/docs/reference/millrace.html#row-maxDelay',
    MILLRACE_E_OVERLOADED: '/docs/reference/errors.html#millrace_e_overloaded',
    'what is millrace': '/#millrace',
    uv_batch_push: '/docs/reference/c-reference.html#row-uv_batch_push',
    'survive overload': '/docs/guides/overload.html#survive-overload',
  };
  for (const [query, id] of Object.entries(first)) {
    test(`finds "${query}" first time`, () => {
      const results = index.search(query).slice(0, 5);
      assert.equal(results[0]?.id, id, results.map((each) => each.id).join(', '));
    });
  }

  test('finds a word that is not typed to its end, or misspelt', () => {
    for (const query of ['maxDel', 'overlod']) {
      const ids = index
        .search(query)
        .slice(0, 5)
        .map(({ id }) => id);
      assert.ok(
        ids.some((id) => /maxDelay|overload/i.test(id)),
        `${query}: ${ids}`,
      );
    }
  });
});

describe('the site in a browser', { skip: !executablePath && 'chromium is not installed' }, () => {
  let browser;
  let server;
  let base;
  before(async () => {
    server = createServer(serve).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    base = `http://127.0.0.1:${server.address().port}`;
    browser = await chromium.launch({ executablePath, args: FLAGS });
  });
  after(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  /** A page of its own, which must ask for files of the site alone and report nothing. */
  async function open(t, options) {
    const context = await browser.newContext(options);
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.problems = [];
    page.on('pageerror', (error) => page.problems.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(base)) page.problems.push(request.url());
    });
    return page;
  }

  test('on a phone no page scrolls sideways, and at most five blocks of code in the guides do', async (t) => {
    // The pages are whole without their scripts, and load faster.
    const page = await open(t, { viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
    const wide = [];
    const blocks = [];
    for (const file of site.keys()) {
      await page.goto(`${base}/${file}`);
      const { width, scrolling } = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        scrolling: [...document.querySelectorAll('.vp-doc pre')]
          .filter((each) => each.scrollWidth > each.clientWidth)
          .map((each) => each.textContent.slice(0, 60)),
      }));
      if (width > 390) wide.push(`${file}: ${width}`);
      if (file.startsWith('docs/guides/'))
        blocks.push(...scrolling.map((text) => `${file}: ${text}`));
    }
    assert.deepEqual(wide, []);
    assert.ok(blocks.length <= 5, blocks.join('\n'));
    assert.deepEqual(page.problems, []);
  });

  test('a word is typed, and the first result is followed to its row', async (t) => {
    const page = await open(t);
    await page.goto(`${base}/index.html`);
    await page.locator('.VPNavBarSearch button').click();
    await page.locator('#localsearch-input').fill('maxDelay');
    await page.locator('.result.selected', { hasText: 'maxDelay' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/reference/millrace.html#row-maxDelay');
    await page.locator('[id="row-maxDelay"]').waitFor();
    assert.deepEqual(page.problems, []);
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`in ${colorScheme}, text stands out from its background`, async (t) => {
      const page = await open(t, { colorScheme });
      for (const file of [
        'index.html',
        'docs/reference/millrace.html',
        'docs/api/millrace.html',
        '404.html',
      ]) {
        await page.goto(`${base}/${file}`);
        assert.deepEqual(await page.evaluate(pale), [], file);
      }
      assert.deepEqual(page.problems, []);
    });
  }
});

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

function serve({ url }, response) {
  const file = join(folder, decodeURIComponent(new URL(url, 'http://site').pathname));
  const path = existsSync(file) && statSync(file).isDirectory() ? join(file, 'index.html') : file;
  if (!existsSync(path)) return response.writeHead(404).end();
  response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
  createReadStream(path).pipe(response);
}
