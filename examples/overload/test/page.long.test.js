import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withBrowser } from '../../../scripts/lib/page-tests.js';
import { startMain } from './support.js';

withBrowser(
  'the page',
  (open) => {
    async function visit(t, url, options) {
      const page = await open(t, url, options);
      await page.waitForSelector('#load:enabled');
      return page;
    }

    test('the slider, moved by keyboard, changes the load, and figures come', async (t) => {
      const { url } = await startMain(t);
      const page = await visit(t, url);
      const narrow = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };
      const other = await visit(t, url, narrow);

      await page.waitForSelector('#offered >> text=2.0×, 20 requests/s');
      await page.getByLabel('Offered load').focus();
      for (let n = 0; n < 4; n += 1) await page.keyboard.press('ArrowRight');
      assert.equal(await page.textContent('#offered'), '3.0×, 30 requests/s');
      assert.equal(await page.getAttribute('#load', 'aria-valuetext'), '3.0×, 30 requests/s');
      await page.waitForSelector('.current >> text=under load, 3.0×');
      const fresh = page.locator('#unprotected .figures [data-name=fresh] dd');
      await page.waitForFunction(
        (element) => element.textContent !== '–',
        await fresh.elementHandle(),
      );
      assert.match(await fresh.textContent(), /^\d+(\.\d)?\/s$/);
      assert.match(await page.textContent('#unprotected .big strong'), /^\d+ %$/);
      assert.equal(await page.isVisible('#unprotected .waiting'), false);

      // Another page shows the same, and can change it.
      await other.waitForFunction(() => document.querySelector('#load').value === '3');
      await other.getByLabel('goes to').selectOption({ label: 'Guard' });
      await page.waitForSelector('#guarded.current');
      assert.equal(await page.inputValue('#target'), 'guarded');
      await page.keyboard.press('End');
      await other.waitForSelector('#guarded.current >> text=under load, 10.0×');
      await page.waitForSelector('#unprotected.old');
      await page.getByRole('button', { name: 'Stop' }).press('Enter');
      await page.waitForSelector('.current', { state: 'detached' });
      assert.equal(await other.inputValue('#load'), '0');

      assert.equal(await page.locator('.server canvas').count(), 15);
      const width = await other.evaluate(() => document.documentElement.scrollWidth);
      assert.equal(width, 390);
      assert.deepEqual([...page.problems, ...other.problems], []);
    });

    test('it says when the connection is gone, and comes back by itself', async (t) => {
      const first = await startMain(t);
      const page = await visit(t, first.url);
      first.child.kill('SIGKILL');
      await first.exited;
      await page.waitForSelector('#status >> text=Not connected');
      assert.equal(await page.isDisabled('#load'), true);
      await startMain(t, ['--port', new URL(first.url).port]);
      await page.waitForSelector('#load:enabled');
      assert.equal(await page.textContent('#status'), '');
      assert.deepEqual(page.problems, []);
    });
  },
  { complaints: /Content Security Policy/ },
);
