// Switching features on the page, and what observe mode tells there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../../../scripts/lib/program-tests.js';
import { exported, start, withBrowser } from './browser.js';

withBrowser('the page: features and reports', (visit) => {
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

  test('the report of observe mode, one for each process', async (t) => {
    const { url } = await start(t, { observe: 'observe' });
    const page = await visit(t, url);
    await page.waitForSelector('#report:visible');
    assert.match(await page.textContent('#report summary'), /^\d+ · main · app\.js$/);
    const report = page.locator('#report pre');
    assert.match(await report.textContent(), /^Millrace has observed process \d+, for [\d.]+ s/);
    assert.equal(await report.isVisible(), true);
    // Nothing else has a monitor here.
    await page.waitForSelector('#utilization .legend b >> text=%');
    await page.waitForSelector('#tiles li:has-text("Loop delay") b >> text=ms');
    assert.deepEqual(page.problems, []);
  });
});
