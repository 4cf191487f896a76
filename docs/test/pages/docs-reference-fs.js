import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';

const line = 'a line\n';

export async function setup() {
  await writeFile('index.html', '<p>hello</p>');
  return { line };
}

export const checks = {
  'file-reads-and-appends': async ({ page }) => {
    assert.equal(page, '<p>hello</p>');
    assert.equal(await readFile('events.log', 'utf8'), line);
  },
};
