// The page in a real browser, on a real application.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exported, start, withBrowser } from './browser.js';

withBrowser('the page', (visit) => {
  test('charts live, collapses what is not used, exports what is shown', async (t) => {
    const { url } = await start(t);
    const page = await visit(t, url);
    assert.equal(await page.textContent('#status'), 'Live');
    await page.waitForSelector('#batch-size .legend >> text=/batch 20/');
    assert.match(await page.textContent('#unused summary'), /^\d+ charts without data$/);
    assert.match(await page.textContent('#unused p'), /^Not used here: .*pool queue/);
    assert.equal(await page.isVisible('#unused p'), false);
    assert.equal(await page.isVisible('#pool-queue'), false);
    assert.equal(await page.isVisible('#processes'), false);
    const label = await page.getAttribute('#memory .plot', 'aria-label');
    assert.match(label, /^Memory: resident [\d.]+ MiB, heap in use/);

    const json = JSON.parse(await exported(page, '#export-json'));
    const sizes = json.charts.find(({ id }) => id === 'batch-size');
    assert.equal(sizes.lines[0].label, 'batch');
    assert.ok(sizes.lines[0].values.includes(20));
    assert.equal(sizes.lines[0].values.length, json.times.length);
    const rows = (await exported(page, '#export-csv')).trimEnd().split('\r\n');
    assert.match(rows[0], /^time,.*Events per batch: batch \(count\)/);
    assert.equal(
      new Set(rows.map((row) => row.replaceAll(/"[^"]*"/g, '').split(',').length)).size,
      1,
    );
    assert.ok(!Number.isNaN(Date.parse(rows.at(-1).split(',')[0])));
    assert.deepEqual(page.problems, []);
  });

  test('a phone, and dark', async (t) => {
    const { url } = await start(t, { child: 'child' });
    const page = await visit(t, url, {
      viewport: { width: 360, height: 740 },
      colorScheme: 'dark',
    });
    const background = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await page.waitForSelector('#processes:visible');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    assert.equal(await background(), 'rgb(16, 19, 21)');
    const isCut = () =>
      page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.querySelector('#processes .scroll');
        return scrollWidth > clientWidth;
      });
    assert.equal(await isCut(), false);
    await page.click('#theme');
    assert.equal(await background(), 'rgb(244, 245, 247)');
    await page.reload();
    assert.equal(await background(), 'rgb(244, 245, 247)');
    await page.click('#theme');
    assert.equal(await background(), 'rgb(16, 19, 21)');
    assert.deepEqual(page.problems, []);
  });

  test('cards are of one width, and lines have the colours of the theme', async (t) => {
    const { url } = await start(t);
    const page = await visit(t, url, { viewport: { width: 1280, height: 800 } });
    await page.waitForSelector('#charts .card:visible >> nth=6');
    const widths = await page.evaluate(() => {
      const cards = [...document.querySelectorAll('#charts .card')];
      const shown = cards.filter(({ offsetWidth }) => offsetWidth > 0);
      // Three in a row, and fewer in the last one.
      if (shown.length % 3 === 0) shown.pop().remove();
      return shown.map(({ offsetWidth }) => offsetWidth);
    });
    assert.equal(new Set(widths).size, 1, `${widths}`);
    /** Pixels of the first line's colour in a chart. */
    const drawn = (red, green, blue) =>
      page.waitForFunction(
        (wanted) => {
          const canvas = document.querySelector('#utilization canvas');
          const { width, height } = canvas;
          const copy = new OffscreenCanvas(width, height);
          const drawing = copy.getContext('2d', { willReadFrequently: true });
          drawing.drawImage(canvas, 0, 0);
          const { data } = drawing.getImageData(0, 0, width, height);
          for (let at = 0; at < data.length; at += 4) {
            if (wanted.every((value, n) => Math.abs(data[at + n] - value) < 8)) return true;
          }
          return false;
        },
        [red, green, blue],
      );
    await drawn(0x00, 0x68, 0xb8);
    await page.click('#theme');
    await page.click('#theme');
    await drawn(0x58, 0xae, 0xf5);
    assert.deepEqual(page.problems, []);
  });
});
