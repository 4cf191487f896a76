/** What keeps a process alive, and what a process that ends does while threads post. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { path, test } from './helper.js';

const child = fileURLToPath(new URL('./child.js', import.meta.url));

async function run(how) {
  const running = spawn(process.execPath, [child, path, how], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [[code, signal], out, err] = await Promise.all([
    once(running, 'exit'),
    text(running.stdout),
    text(running.stderr),
  ]);
  return { code, signal, out: out.trim(), err };
}

for (const [how, code, out] of [
  ['a ring that is closed later', 0, '2000'],
  ['a ring that is not referenced', 0, 'exit'],
  ['a ring that is referenced again', 0, 'closed'],
  ['a ring that stays open', 0, 'alive'],
  ['exit among posts', 7, ''],
  ['exit among posts, in a later turn', 7, ''],
  ['exit with threads that nobody joins', 7, ''],
  ['workers alone have the addons', 0, ''],
  ["threads of a worker that alone had millrace's addon", 0, '2'],
]) {
  test(how, async () => {
    assert.deepEqual(await run(how), { code, signal: null, out, err: '' });
  });
}

test('a callback that throws, and nobody who catches it', async () => {
  const { code, err } = await run('a callback that throws');
  assert.equal(code, 1);
  assert.match(err, /Error: thrown on purpose/);
});
