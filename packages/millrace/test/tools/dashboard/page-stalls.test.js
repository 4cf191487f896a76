// The page while the process that serves it is blocked, and afterwards.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { start, withBrowser } from './browser.js';

withBrowser('the page: stalls', (visit) => {
  test('names the function that blocks the process while it blocks, and lists it afterwards', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-page-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const until = join(folder, 'go');
    const { app, url } = await start(t, { until });
    const page = await visit(t, url);
    assert.equal(await page.isVisible('#blocked p'), false);

    app.send('block');
    const live = '#blocked p';
    await page.waitForSelector(
      `${live} >> text=/Blocked now: .*renderInvoice, .*app\\.js:\\d+, [\\d.]+ s/`,
    );
    assert.equal(await page.textContent('#status'), 'Live');

    writeFileSync(until, 'go');
    await page.waitForSelector('#stalls li >> text=/renderInvoice, .*app\\.js:\\d+/');
    await page.waitForSelector(live, { state: 'hidden' });
    assert.match(await page.textContent('#stalls li'), /\d s/);
    // The only other server that the page may ask.
    const others = page.problems.filter(
      (text) => !/^asked for http:\/\/127\.0\.0\.1:\d+\/stalls$/.test(text),
    );
    assert.deepEqual(others, []);
  });
});
