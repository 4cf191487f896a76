import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { withBrowser } from '../../../../scripts/lib/page-tests.js';
import { writeReport } from '../index.js';
import { sampleResults } from './sample.js';

/** The least contrast of text that WCAG 2.2 asks for. */
const CONTRAST = 4.5;

withBrowser('the report', (openPage) => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  const one = sampleResults({
    rounds: 6,
    rest: { notes: ['a note: 100 % and %41 of “ünïcode”, #1 & <b>'] },
  });
  const several = [
    sampleResults({
      rounds: 6,
      cases: ['100', 'x'.repeat(90)],
      treatments: ['adaptive', 'y'.repeat(90)],
    }),
    one,
  ];
  const rendered = new Map();
  after(() => rmSync(folder, { recursive: true }));

  /** A page of its own, which must ask for nothing. */
  function open(t, results, options) {
    const path = rendered.get(results) ?? join(folder, `${rendered.size}.html`);
    if (!rendered.has(results)) writeReport({ results, html: path });
    rendered.set(results, path);
    return openPage(t, pathToFileURL(path).href, { offline: true, ...options });
  }

  for (const width of [1280, 390]) {
    test(`headings, tables and charts are there at ${width} pixels, and nothing sticks out`, async (t) => {
      const page = await open(t, several, { viewport: { width, height: 844 } });
      await unfold(page);
      const found = await page.evaluate(() => ({
        width: document.documentElement.scrollWidth,
        out: [...document.querySelectorAll('main *:not(svg *)')]
          .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
          .map((each) => each.outerHTML.slice(0, 90)),
        heads: [...document.querySelectorAll('h1, h2, h3, h4, caption, summary')].filter(
          (each) => each.textContent.trim() === '',
        ).length,
        charts: [...document.querySelectorAll('svg')]
          .filter((svg) => svg.checkVisibility())
          .map((svg) => {
            const { width: across, height } = svg.getBoundingClientRect();
            return {
              label: svg.getAttribute('aria-label'),
              isEmpty: across < 20 || height < 10,
              across,
            };
          }),
      }));
      assert.deepEqual([found.width, found.out, found.heads], [width, [], 0]);
      const count = (start) => found.charts.filter(({ label }) => label.startsWith(start)).length;
      assert.ok(count('How many times better') >= 6);
      assert.ok(count('Density of ') >= 12);
      // Of each case, and of the experiment that has one alone.
      assert.equal(count('Latency by percentile'), 3);
      assert.equal(count('messages per second by round'), 3);
      assert.ok(count('messages per second') >= 4 && count('CPU time per message') >= 1);
      assert.ok(count('CPU over time') === 3 && count('Messages over time') === 3);
      assert.deepEqual(
        found.charts.filter(({ isEmpty }) => isEmpty),
        [],
      );
      const latency = found.charts.find(({ label }) => label === 'Latency by percentile');
      assert.equal(latency.across > 400, width === 1280);
      for (const text of [
        'The control against itself',
        'How it was measured',
        'What the figures cannot say',
      ]) {
        assert.ok(await page.getByText(text, { exact: true }).last().isVisible(), text);
      }
      assert.deepEqual(page.problems, []);
    });
  }

  for (const colorScheme of ['light', 'dark']) {
    test(`texts can be read in ${colorScheme}`, async (t) => {
      const page = await open(t, one, { colorScheme });
      await unfold(page);
      const faint = await page.evaluate(contrasts, CONTRAST);
      assert.deepEqual(faint, []);
      const isDark = await page.evaluate(
        () => getComputedStyle(document.documentElement).backgroundColor !== 'rgb(255, 255, 255)',
      );
      assert.equal(isDark, colorScheme === 'dark');
    });
  }

  test('one experiment takes four screens of a telephone at most, and its statistics unfold', async (t) => {
    const page = await open(t, one, { viewport: { width: 390, height: 844 } });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height <= 4 * 844, `${height} pixels`);
    const table = page.locator('table.figures');
    assert.equal(await table.isVisible(), false);
    await page.getByText('Statistics').click();
    assert.ok(await table.isVisible());
  });

  test('the download is what was put in', async (t) => {
    const page = await open(t, one);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByText('Download the raw data').click(),
    ]);
    assert.match(download.suggestedFilename(), /^chat-messages-2026-03-04[\w.-]*\.json$/);
    const saved = JSON.parse(readFileSync(await download.path(), 'utf8'));
    assert.deepEqual(saved, JSON.parse(JSON.stringify(one)));
    assert.deepEqual(
      page.problems.filter((text) => !text.startsWith('asked for data:')),
      [],
    );
  });

  test('no script of a name runs, nor could one', async (t) => {
    const nasty = '</style><script>console.log("ran")</script><img src=x onerror="console.log(1)">';
    const page = await open(t, { ...one, question: nasty, about: nasty, experiment: nasty });
    assert.equal(await page.textContent('h1'), nasty);
    assert.deepEqual(page.problems, []);
    await page.evaluate(() => {
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:9/x.png';
      document.body.append(image);
    });
    await page.waitForFunction(() => document.querySelector('img').complete);
    assert.match(page.problems.join(), /Content Security Policy/);
  });

  test('on paper everything unfolded is there', async (t) => {
    const page = await open(t, several);
    await page.emulateMedia({ media: 'print' });
    const folded = page.locator('details:not([open]) table').first();
    assert.ok((await folded.boundingBox()).height > 50);
    assert.equal(await page.locator('.download').first().isVisible(), false);
  });
});

/** Opens all that is folded. */
const unfold = (page) =>
  page.evaluate(() => {
    for (const each of document.querySelectorAll('details')) each.open = true;
  });

/** In the page: texts of too little contrast with what is behind them. */
function contrasts(least) {
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [red, green, blue] = [r, g, b].map((each) => {
      const share = each / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor);
      if (colour[3] !== 0) return colour;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('main *')]
    .filter((each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
    .map((each) => {
      const style = getComputedStyle(each);
      const colour = each.closest('svg') ? style.fill : style.color;
      const [front, back] = [luminance(channels(colour)), luminance(behind(each))];
      const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
      return { ratio, text: `${each.textContent.slice(0, 40)} ${colour}` };
    })
    .filter(({ ratio }) => ratio < least);
}
