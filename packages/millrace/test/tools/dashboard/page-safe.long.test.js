// Who gets to the page by a link, and what is shown as text.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { start, withBrowser } from './browser.js';
import { feature, openFeed, processInfo, serve } from './support.js';

withBrowser('the page: text and links', (visit, open) => {
  test('output of processes and features is text, whatever it is', async (t) => {
    const evil = '<img src=x onerror=alert(1)>';
    const features = {
      [evil]: { ...feature(evil), why: `<script>alert(2)</script>${'long'.repeat(100)}` },
    };
    const dashboard = await serve(t, { features });
    const { socket } = await openFeed(t, dashboard);
    const process = { ...processInfo, title: evil };
    socket.write(`${JSON.stringify({ type: 'hello', process, features: [] })}\n`);
    const points = [{ name: 'batch_trigger_total', labels: { trigger: evil }, value: 1 }];
    const sample = () => ({ type: 'sample', at: 0, points, features: [] });
    socket.on('data', () => {
      points[0].value += 5;
      socket.write(`${JSON.stringify(sample())}\n`);
    });
    const page = await visit(t, dashboard.url, { viewport: { width: 360, height: 740 } });
    await page.waitForSelector('#features .state >> text=longlong');
    await page.waitForSelector('#features b >> text=onerror');
    await page.waitForSelector('#triggers .legend >> text=onerror');
    assert.equal(await page.locator('#processes td', { hasText: evil }).count(), 1);
    assert.equal(await page.locator('img[src=x], main script').count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    assert.deepEqual(page.problems, []);
  });

  test('a link on another site leads in with the token, which is not in the address then', async (t) => {
    const token = 'a token of good length';
    const { url, port } = await start(t, { token });
    const site = createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<a href="${url}?token=${encodeURIComponent(token)}">dashboard</a>`);
    }).listen(0, 'localhost');
    t.after(() => site.close());
    await once(site, 'listening');
    const page = await open(t, `http://localhost:${site.address().port}/`);
    await page.click('a');
    await page.waitForSelector('#triggers .legend b');
    assert.equal(page.url(), `http://127.0.0.1:${port}/`);
  });
});
