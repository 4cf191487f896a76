/** Fixtures that the tests of pages share: one browser per file, and a list of the errors on a page. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chromium } from 'playwright-core';
import { executablePath, FLAGS } from './chromium.js';

/** Limit that ends what hangs, and nothing that a busy machine keeps waiting. */
const PATIENCE_MS = 300_000;

/**
 * Tests in one browser; without one they are skipped, or fail where CI=true allows no skips.
 *
 * @param {string} name of the tests
 * @param {(open: Open) => void} define the tests
 * @param {{ complaints?: RegExp }} [options] messages of the console that are problems; default: all
 *
 * @callback Open opens a page of its own, whose `problems` are what went wrong on it: errors, complaints, requests to elsewhere
 * @param {import('node:test').TestContext} t that closes it
 * @param {string} url
 * @param {import('playwright-core').BrowserContextOptions} [context]
 * @returns {Promise<import('playwright-core').Page & { problems: string[] }>}
 */
export function withBrowser(name, define, { complaints = /^/ } = {}) {
  if (!executablePath) {
    test(name, { skip: process.env.CI !== 'true' && 'chromium is not installed' }, () => {
      assert.fail('chromium is not installed, and CI=true allows no skips');
    });
    return;
  }
  describe(name, () => {
    let browser;
    before(async () => {
      browser = await chromium.launch({ executablePath, args: FLAGS, timeout: PATIENCE_MS });
    });
    after(() => browser?.close());

    define(async (t, url, options) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(PATIENCE_MS);
      t.after(() => context.close());
      const page = await context.newPage();
      page.problems = [];
      page.on('pageerror', (error) => page.problems.push(error.message));
      page.on('console', (message) => {
        if (complaints.test(message.text())) page.problems.push(message.text());
      });
      page.on('request', (request) => {
        if (!isOwn(url, request.url())) page.problems.push(`asked for ${request.url()}`);
      });
      await page.goto(url);
      return page;
    });
  });
}

/** A page in a file has nothing but itself. */
function isOwn(url, asked) {
  const { protocol, origin } = new URL(url);
  if (protocol === 'file:') return asked === url;
  return asked.startsWith('blob:') || new URL(asked).origin === origin;
}
