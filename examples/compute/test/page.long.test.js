import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withBrowser } from '../../../scripts/lib/page-tests.js';
import { startMain } from './support.js';

withBrowser(
  'the page',
  (open) => {
    async function visit(t, url, options) {
      const page = await open(t, url, options);
      await page.waitForSelector('[data-start="fibonacci"]:enabled');
      return page;
    }

    /** The newest result, once all are there. */
    async function newest(page, count) {
      await page.waitForFunction((count) => {
        const rows = Array.from(document.querySelectorAll('#runs tbody tr'));
        return rows.length === count && rows.every((row) => /done|failed/.test(row.className));
      }, count);
      const cells = await page.locator('#runs tbody tr').first().locator('[data-name]').all();
      const entries = cells.map(async (cell) => [
        await cell.getAttribute('data-name'),
        await cell.textContent(),
      ]);
      return Object.fromEntries(await Promise.all(entries));
    }

    test('starts work by keyboard, and shows what became of it', async (t) => {
      const { url } = await startMain(t, ['--threads', '2']);
      const page = await visit(t, url);
      await page.getByLabel('n', { exact: true }).fill('20000');
      await page.getByRole('button', { name: 'Fibonacci on the main thread', exact: true }).focus();
      await page.keyboard.press('Enter');
      const single = await newest(page, 1);
      assert.equal(single.task, 'Fibonacci, n = 20,000, additions');
      assert.equal(single.where, 'main thread');
      assert.match(single.result, /^4,180 digits, 25311623…13093125, SHA/);
      assert.match(single.took, /^\d+(\.\d+)? m?s$/);
      await page.getByLabel('computed by').selectOption('doubling');
      await page.getByRole('button', { name: 'RSA Fibonacci in the pool, by two factors' }).click();
      const rsa = await newest(page, 2);
      assert.match(rsa.speed, /^\d+\.\d\d×, by Amdahl [12]\.\d\d×$/);
      const file = {
        name: 'words.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('a b\n'.repeat(9)),
      };
      await page.getByLabel('Upload', { exact: true }).setInputFiles(file);
      await page.getByRole('button', { name: 'Upload a file' }).click();
      const upload = await newest(page, 3);
      assert.equal(upload.task, 'Uploaded file, words.txt');
      assert.match(upload.result, /^36 bytes, 9 lines, 18 words, CRC/);
      await page.getByLabel('Records', { exact: true }).selectOption('100,000');
      await page.getByRole('button', { name: 'All at once, in the pool' }).click();
      await newest(page, 7);
      assert.equal(await page.locator('#runs .failed').count(), 0);
      assert.equal(await page.locator('#charts canvas').count(), 4);
      for (const figure of await page.locator('#charts output').allTextContents()) {
        assert.match(figure, /^\d/);
      }

      // What is wrong is said before anything is asked for.
      await page.getByLabel('n', { exact: true }).fill('10000001');
      await page.getByRole('button', { name: 'Fibonacci in the pool', exact: true }).click();
      assert.equal(await page.locator('#n:invalid').count(), 1);
      assert.equal(await page.locator('#runs tbody tr').count(), 7);
      assert.deepEqual(page.problems, []);
    });

    test('fits a phone, in the dark', async (t) => {
      const { url } = await startMain(t, ['--threads', '1']);
      const options = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' };
      const page = await visit(t, url, options);
      await page.getByRole('button', { name: 'Fetch photos' }).click();
      assert.equal((await newest(page, 1)).result, '5,000 photos');
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(back, 'rgb(17, 20, 27)');
      assert.deepEqual(page.problems, []);
    });

    test('says when the connection is gone, and comes back by itself', async (t) => {
      const first = await startMain(t);
      const page = await visit(t, first.url);
      first.child.kill('SIGKILL');
      await first.exited;
      await page.waitForSelector('#status >> text=Not connected');
      assert.equal(await page.isDisabled('[data-start="fibonacci"]'), true);
      await startMain(t, ['--port', new URL(first.url).port]);
      await page.waitForSelector('[data-start="fibonacci"]:enabled');
      assert.equal(await page.textContent('#status'), '');
      assert.deepEqual(page.problems, []);
    });
  },
  { complaints: /Content Security Policy/ },
);
