/** The example of docs/reference/threads.md: it works, and the page shows it as it is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test as always } from 'node:test';
import { api } from 'millrace/threads';
import { build, load } from './build.js';
import { test } from './helper.js';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('squares come in batches, in order, and the ring closes at the end', async () => {
  const addon = load(build('example/squares.c'));
  const count = 100_000;
  let next = 0;
  await new Promise((resolve) => {
    addon.start(api(), count, (buffer, first, records) => {
      const values = new Float64Array(buffer, first * 16, records * 2);
      for (let i = 0; i < values.length; i += 2) {
        assert.equal(values[i], next);
        assert.equal(values[i + 1], next * next);
        next++;
      }
      if (next === count) resolve();
    });
  });
  assert.throws(() => addon.start(api()), /usage/);
  assert.throws(() => addon.start({}, 1, () => {}), /wrong/);
});

always('the page shows the files of the example', () => {
  const page = read('../../../../docs/reference/threads.md');
  for (const name of ['squares.c', 'binding.gyp']) {
    assert.ok(page.includes(`\n${read(`example/${name}`)}\`\`\`\n`), name);
  }
});
