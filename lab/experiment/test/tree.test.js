import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { Tree } from '../tree.js';

const BURN = 'let n = 0; while (process.cpuUsage().user < 200_000) n += 1;';

/** Starts a program that waits for a line of stdin before each step, and ends with its stdin. */
function program(t, source) {
  const child = spawn(process.execPath, ['-e', source], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  });
  const tree = new Tree(child.pid);
  t.after(() => tree.end());
  const says = async () => `${(await once(child.stdout, 'data'))[0]}`.trim();
  return { child, tree, says };
}

test("a process's CPU time counts", async (t) => {
  const { tree, says } = program(t, `${BURN} console.log('done'); process.stdin.resume();`);
  assert.equal(await says(), 'done');
  assert.ok(tree.cpuUs() >= 190_000, `${tree.cpuUs()}`);
});

test('so does that of a child which has ended, and of one that runs', async (t) => {
  const run = `require('child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(BURN)}]);`;
  const ended = program(t, `${run} console.log('done'); process.stdin.resume();`);
  assert.equal(await ended.says(), 'done');
  assert.ok(ended.tree.cpuUs() >= 190_000, `${ended.tree.cpuUs()}`);

  const inner = `${BURN} console.log('done'); process.stdin.resume();`;
  const start = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' });`;
  const running = program(t, start);
  assert.equal(await running.says(), 'done');
  // Looks for descendants, as it does ten times a second anyway.
  running.tree.peak();
  assert.ok(running.tree.cpuUs() >= 190_000, `${running.tree.cpuUs()}`);
});

test('the peak is the most that was in use, threads of all processes included', async (t) => {
  const hold =
    'const held = Buffer.alloc(150e6, 1); console.log(held.length); process.stdin.resume();';
  const { tree, says } = program(t, hold);
  assert.equal(await says(), '150000000');
  const { rssBytes, threads } = tree.peak();
  assert.ok(rssBytes > 150e6, `${rssBytes}`);
  assert.ok(threads > 1, `${threads}`);
});

test('a process that is gone has used what was seen, and is no error', async (t) => {
  const { child, tree } = program(t, 'process.stdin.resume();');
  child.kill('SIGKILL');
  await once(child, 'close');
  assert.equal(tree.cpuUs(), 0);
  assert.ok(tree.peak().rssBytes >= 0);
});
