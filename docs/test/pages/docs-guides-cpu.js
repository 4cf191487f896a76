import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { snippetsOf } from '../lib/snippets.js';

export async function setup() {
  process.env.PORT = '0';
  const [tasks] = snippetsOf('docs/guides/cpu.md').filter(({ name }) => name === 'the-program');
  await writeFile('tasks.js', tasks.code);
}

async function counts({ primes }) {
  const found = await Promise.all([0, 2, 3, 4, 100, 1000].map((below) => primes(below)));
  assert.deepEqual(found, [0, 0, 1, 2, 25, 168]);
}

export const checks = {
  'the-program': counts,
  'the-program-2': async ({ server }) => {
    const url = `http://127.0.0.1:${server.address().port}`;
    const answers = ['/primes?below=100', '/health'].map((path) => fetch(url + path));
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    assert.deepEqual(texts, ['25\n', 'up\n']);
  },
  'the-change': counts,
  'a-better-algorithm-first': counts,
};
