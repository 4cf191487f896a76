// Several processes on the page, and servers that go and come.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start, withBrowser } from './browser.js';
import { serve } from './support.js';

withBrowser('the page: processes', (visit, open) => {
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

  test('an application that has nothing to do is called idle', async (t) => {
    const dashboard = await serve(t);
    const page = await open(t, dashboard.url);
    await page.waitForSelector('#notice >> text=/is idle. Send some traffic/');
    assert.deepEqual(page.problems, []);
  });

  test('it comes back by itself when the server does', async (t) => {
    const first = await start(t);
    const page = await visit(t, first.url);
    assert.equal(await page.title(), 'app.js · Millrace');
    assert.equal(await page.isVisible('#notice'), false);
    first.app.kill('SIGKILL');
    await page.waitForSelector('#status >> text=Connection lost');
    await page.waitForSelector(
      '#notice >> text=/^Connection lost. Showing data up to \\d+:.*; retrying…$/',
    );
    const opacity = () =>
      page.evaluate(() => getComputedStyle(document.querySelector('#charts')).opacity);
    assert.equal(await opacity(), '0.5');
    const second = await start(t, { port: first.port });
    await page.waitForSelector('#status >> text=Live');
    await page.waitForSelector(`#process option[value="${second.app.pid}"]`, {
      state: 'attached',
    });
    await page.waitForSelector('#notice', { state: 'hidden' });
    assert.equal(await opacity(), '1');
  });
});
