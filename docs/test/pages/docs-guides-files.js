import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { snippetsOf } from '../lib/snippets.js';

export async function setup() {
  process.env.PORT = '0';
  const page = snippetsOf('docs/guides/files.md');
  const { code } = page.find(({ name }) => name === 'a-large-file-in-pieces');
  await writeFile('lines.js', code);
}

export const checks = {
  'the-program': async ({ server }) => {
    const url = `http://127.0.0.1:${server.address().port}`;
    const orders = await Promise.all([1, 2, 3].map(() => fetch(`${url}/order`)));
    assert.deepEqual(
      await Promise.all(orders.map((answer) => answer.text())),
      Array(3).fill('kept\n'),
    );
    assert.equal(await readFile('orders.log', 'utf8'), 'one order\n'.repeat(3));
    assert.match(
      await (await fetch(url)).text(),
      /^(<p>head<\/p>\n)+(<p>body<\/p>\n)+(<p>foot<\/p>\n)+$/,
    );
  },
  'a-large-file-in-pieces-2': ({ counts }) =>
    assert.equal(
      counts.reduce((sum, lines) => sum + lines),
      4_000_000,
    ),
};
