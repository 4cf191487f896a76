// What a pool means for its process: whether it lives, what it prints, and what its calls remember.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hold, open, outcomes, repeat, until } from './support.js';

const program = fileURLToPath(new URL('./program.js', import.meta.url));

/** Runs a scenario in a process of its own: its exit code, and what it has printed. */
async function run(t, scenario) {
  const child = spawn(process.execPath, [program, scenario], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return { code, lines: text.split('\n').filter((line) => line !== '') };
}

test('a process ends when its pool has nothing to do', async (t) => {
  assert.deepEqual(await run(t, 'idle'), { code: 0, lines: ['exit'] });
});

test('it lives while tasks run and wait, those that are begun again among them', async (t) => {
  const numbers = repeat(20, (n) => `${n}`);
  assert.deepEqual(await run(t, 'busy'), { code: 0, lines: [...numbers, 'died once', 'exit'] });
});

test('it lives while tasks wait behind one that nobody waits for', async (t) => {
  assert.deepEqual(await run(t, 'behind'), { code: 0, lines: ['given up', 'behind', 'exit'] });
});

test('it does not wait for the grace of a task that has ended', async (t) => {
  assert.deepEqual(await run(t, 'grace'), { code: 0, lines: ['given up', 'exit'] });
});

test('output of tasks is not lost when it ends with their results', async (t) => {
  const lines = [...repeat(200, (n) => `printed ${n}`), 'exit'];
  // It is a matter of time which of them come with the last results.
  for (const printed of await Promise.all(repeat(5, () => run(t, 'prints'))))
    assert.deepEqual(printed, { code: 0, lines });
});

test('a task that ends the output of its worker has a result all the same', async (t) => {
  const pool = open(t);
  assert.deepEqual(await outcomes(repeat(3, (n) => pool.run(n, { name: 'endOutput' }))), [0, 1, 2]);
});

test('the context of a call is that of what follows it', async (t) => {
  const pool = open(t);
  const storage = new AsyncLocalStorage();
  const held = await hold(pool);
  const seen = [];
  const calls = repeat(30, (n) =>
    storage.run(n, async () => {
      await pool.run(n);
      seen.push(storage.getStore());
      await assert.rejects(pool.run('an error', { name: 'fail' }));
      seen.push(storage.getStore());
    }),
  );
  const aborted = storage.run('aborted', async () => {
    const controller = new AbortController();
    const call = pool.run(1, { signal: controller.signal });
    controller.abort();
    await call.catch(() => seen.push(storage.getStore()));
  });
  await aborted;
  assert.deepEqual(seen, ['aborted']);
  held.release();
  await Promise.all(calls);
  await until(() => seen.length === 61);
  assert.deepEqual(
    seen.slice(1).toSorted((a, b) => a - b),
    repeat(60, (n) => n >> 1),
  );
});
