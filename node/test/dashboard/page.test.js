// The page in a real browser, on a real application.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { executablePath, FLAGS } from '../../../scripts/lib/chromium.js';
import { until } from './support.js';

const feedToken = 'the token of feeds in tests';

async function start(t, { port = 0, child = '' } = {}) {
  const app = fork(new URL('app.js', import.meta.url), [String(port), feedToken, child]);
  t.after(() => app.kill('SIGKILL'));
  const told = [];
  app.on('message', (message) => told.push(message));
  const [{ url, port: at }] = await once(app, 'message');
  return { app, url, port: at, told };
}

if (!executablePath) {
  test('the page', { skip: process.env.CI !== 'true' && 'chromium is not installed' }, () => {
    assert.fail('chromium is not installed, and CI=true allows no skips');
  });
} else {
  describe('the page', () => {
    let browser;
    before(async () => {
      browser = await chromium.launch({ executablePath, args: FLAGS });
    });
    after(() => browser?.close());

    async function visit(t, url, options = {}) {
      const context = await browser.newContext({
        viewport: { width: 1200, height: 800 },
        ...options,
      });
      t.after(() => context.close());
      const page = await context.newPage();
      page.problems = [];
      page.on('pageerror', (error) => page.problems.push(error.message));
      page.on('console', (message) => page.problems.push(message.text()));
      page.on('request', (request) => {
        const asked = request.url();
        if (!asked.startsWith(url) && !asked.startsWith('blob:')) page.problems.push(asked);
      });
      await page.goto(url);
      await page.waitForSelector('#triggers .legend b');
      return page;
    }

    /** What the page would export. */
    async function exported(page, button) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
      return readFile(await download.path(), 'utf8');
    }

    test('charts live, collapses what is not used, exports what is shown', async (t) => {
      const { url } = await start(t);
      const page = await visit(t, url);
      assert.equal(await page.textContent('#status'), 'Live');
      await page.waitForSelector('#batch-size .legend >> text=/batch 20/');
      assert.match(await page.textContent('#unused'), /^Not used here: .*pool queue/);
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

    test('a switch changes the application and leaves a mark', async (t) => {
      const { url, told } = await start(t);
      const page = await visit(t, url);
      const other = await visit(t, url);
      const ws = page.getByRole('switch', { name: 'ws' });
      assert.equal(await ws.getAttribute('aria-checked'), 'true');
      await ws.press('Space');
      await until(() => told.at(-1).state === 'off');
      await page.waitForSelector('#features [aria-checked=false]');
      await other.waitForSelector('#features [aria-checked=false]');
      await ws.click();
      await until(() => told.at(-1).state === 'active');
      await page.waitForSelector('#features [data-state=active]');
      const { marks } = JSON.parse(await exported(other, '#export-json'));
      assert.deepEqual(
        marks.map(({ feature, on }) => `${feature} ${on}`),
        ['ws false', 'ws true'],
      );
      assert.deepEqual([...page.problems, ...other.problems], []);
    });

    test('pause, zoom by pointer and by keyboard, hiding a line', async (t) => {
      const { url } = await start(t);
      const page = await visit(t, url);
      const seconds = async () => JSON.parse(await exported(page, '#export-json')).times;
      await page.click('#pause');
      const paused = await seconds();
      await page.waitForTimeout(2100);
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

      await page.click('#memory .legend button >> text=resident');
      await page.waitForSelector('#memory .legend [aria-pressed=false]');
      await page.getByLabel('10 min').check();
      assert.ok((await seconds()).length > 100);
      assert.deepEqual(page.problems, []);
    });

    test('several processes, all or one', async (t) => {
      const { app, url } = await start(t, { child: 'child' });
      const page = await visit(t, url);
      await page.waitForSelector('#processes >> text=feeder.js');
      await page.waitForSelector('#utilization .legend li');
      const child = await page.textContent('#processes tr:has-text("feeder.js") th');
      await page.selectOption('#process', child);
      // It has no batches.
      await page.waitForSelector('#triggers', { state: 'hidden' });
      await page.waitForSelector('#features >> text=fs');
      await page.selectOption('#process', String(app.pid));
      await page.waitForSelector('#triggers:visible');
      process.kill(Number(child), 'SIGKILL');
      await page.waitForSelector(`#processes tr:has-text("${child}") >> text=ended`);
      assert.deepEqual(page.problems, []);
    });

    test('it comes back by itself when the server does', async (t) => {
      const first = await start(t);
      const page = await visit(t, first.url);
      first.app.kill('SIGKILL');
      await page.waitForSelector('#status >> text=Reconnecting');
      const second = await start(t, { port: first.port });
      await page.waitForSelector('#status >> text=Live');
      await page.waitForSelector(`#process option[value="${second.app.pid}"]`, {
        state: 'attached',
      });
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
      await page.click('#theme');
      assert.equal(await background(), 'rgb(244, 245, 247)');
      await page.reload();
      assert.equal(await background(), 'rgb(244, 245, 247)');
      await page.click('#theme');
      assert.equal(await background(), 'rgb(16, 19, 21)');
      assert.deepEqual(page.problems, []);
    });
  });
}
