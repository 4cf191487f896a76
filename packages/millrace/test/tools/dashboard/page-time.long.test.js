// What of the time and of the lines is in sight on the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { exported, start, withBrowser } from './browser.js';

withBrowser('the page: time and lines', (visit) => {
  test('pause, zoom by pointer and by keyboard', async (t) => {
    const { url } = await start(t);
    const page = await visit(t, url);
    const seconds = async () => JSON.parse(await exported(page, '#export-json')).times;
    await page.click('#pause');
    await page.waitForSelector('#status >> text=Paused');
    const paused = await seconds();
    // Samples of two more seconds have come in.
    const from = paused.at(-1);
    await page.waitForFunction((last) => Date.now() / 1000 > last + 2.5, from);
    assert.deepEqual(await seconds(), paused);
    await page.click('#pause');
    await until(async () => (await seconds()).at(-1) > paused.at(-1));

    const plot = page.locator('#utilization .u-over');
    const { x, y, width } = await plot.boundingBox();
    await page.mouse.move(x + width * 0.5, y + 40);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.9, y + 40, { steps: 5 });
    await page.mouse.up();
    await page.waitForSelector('#unzoom:visible');
    const zoomed = await seconds();
    assert.ok(zoomed.length >= 20 && zoomed.length <= 28, String(zoomed.length));
    // The cursor is on all charts.
    await page.mouse.move(x + width * 0.5, y + 40);
    await page.waitForFunction(
      () =>
        new Set(
          [...document.querySelectorAll('.card:not([hidden]) .when')].map((e) => e.textContent),
        ).size === 1,
    );
    await plot.dblclick();
    await page.waitForSelector('#unzoom', { state: 'hidden' });

    await page.mouse.move(0, 0);
    await page.focus('#memory .plot');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelector('#cpu .when').textContent !== '');
    await page.keyboard.press('+');
    await page.waitForSelector('#unzoom:visible');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#unzoom', { state: 'hidden' });

    await page.getByLabel('10 min').check();
    assert.ok((await seconds()).length > 100);
    assert.deepEqual(page.problems, []);
  });

  test('a line is hidden and shown again', async (t) => {
    const { url } = await start(t);
    const page = await visit(t, url);
    const name = page.locator('#memory .legend button', { hasText: 'resident' });
    /** Whether the chart has a dot of the line's colour. */
    const isDrawn = () =>
      page.evaluate(() => {
        const canvas = document.querySelector('#memory canvas');
        const swatch = document.querySelector('#memory .swatch');
        const wanted = getComputedStyle(swatch).backgroundColor.match(/\d+/g).map(Number);
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        for (let n = 0; n < data.length; n += 4) {
          if (wanted.every((value, k) => Math.abs(value - data[n + k]) < 8)) return true;
        }
        return false;
      });
    await until(isDrawn);
    await name.click();
    await page.waitForSelector('#memory .legend [aria-pressed=false]');
    await until(async () => !(await isDrawn()));
    await name.click();
    await until(isDrawn);
  });
});
