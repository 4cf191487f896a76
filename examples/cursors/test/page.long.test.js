import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withBrowser } from '../../../scripts/lib/page-tests.js';
import { CursorServer } from '../server.js';

withBrowser('the page', (open) => {
  test('shows the cursors of all four readers, and how old they are', async (t) => {
    const server = new CursorServer({ cursors: 50, rate: 500, slow: 2 });
    t.after(() => server.close());
    const page = await open(t, `http://127.0.0.1:${await server.listen(0)}`);
    server.start();
    for (const path of ['/live', '/events', '/slow', '/past']) {
      const view = page.locator(`section[data-path="${path}"]`);
      await view.locator('[data-age]', { hasText: / s$/ }).waitFor();
      const drawn = await view.locator('canvas').evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value) => value > 0);
      });
      assert.ok(drawn, path);
    }
  });
});
