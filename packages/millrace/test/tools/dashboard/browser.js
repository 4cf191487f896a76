// What the tests of the page share: a browser for each file, an application for each test.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { withBrowser as withPages } from '../../../../../scripts/lib/page-tests.js';

const feedToken = 'the token of feeds in tests';

/** `app.js` in a process of its own, and what it has told so far. */
export async function start(
  t,
  { port = 0, child = '', observe = '', token = '', until = '' } = {},
) {
  const args = [String(port), feedToken, child, observe, token, until];
  const app = fork(new URL('app.js', import.meta.url), args);
  t.after(() => app.kill('SIGKILL'));
  const told = [];
  app.on('message', (message) => told.push(message));
  const [{ url, port: at }] = await once(app, 'message');
  return { app, url, port: at, told };
}

/**
 * Tests in one browser. `define` gets `visit(t, url, options)`, which opens the page and collects what goes wrong on it,
 * and `open`, which does not wait for anything to be there.
 */
export function withBrowser(name, define) {
  withPages(name, (openPage) => {
    const open = (t, url, options) =>
      openPage(t, url, { viewport: { width: 1200, height: 800 }, ...options });

    async function visit(t, url, options) {
      const page = await open(t, url, options);
      await page.waitForSelector('#triggers .legend b');
      return page;
    }

    define(visit, open);
  });
}

/** The text of what the page would export. */
export async function exported(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return readFile(await download.path(), 'utf8');
}
