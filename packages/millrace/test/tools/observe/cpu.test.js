/** Turns that are long because the thread has no CPU are not those that block. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { observe } from 'millrace/observe';
import { withoutCpu } from '../../../dist/tools/observe/loop.js';
import { busy } from './busy.js';

const from = { ranMs: 1000, waitedMs: 100, slices: 7 };

for (const [what, ms, to, missed] of [
  ['a turn that computes', 100, { ranMs: 1100, waitedMs: 100, slices: 7 }, 0],
  ['one that is interrupted for short times', 110, { ranMs: 1100, waitedMs: 110, slices: 9 }, 10],
  ['one that waits for a CPU', 500, { ranMs: 1010, waitedMs: 590, slices: 20 }, 490],
  ['one whose CPU is taken away', 500, { ranMs: 1010, waitedMs: 100, slices: 7 }, 490],
  ['one that sleeps in a system call', 500, { ranMs: 1010, waitedMs: 101, slices: 8 }, 1],
  ['one that ran before the turn began', 10, { ranMs: 1015, waitedMs: 130, slices: 8 }, 0],
]) {
  test(`${what}: ${missed} of ${ms} ms are without a CPU`, () => {
    assert.equal(withoutCpu(ms, from, to), missed);
  });
}

const canStarve =
  existsSync('/proc/thread-self/schedstat') && spawnSync('taskset', ['--version']).status === 0;

test('a thread that gets no CPU is reported as such', {
  skip: !canStarve && 'needs taskset, and a kernel that counts',
}, async (t) => {
  const onOneCpu = (...args) => {
    const [cpu] = spawnSync('taskset', ['-cp', String(process.pid)], {
      encoding: 'utf8',
    }).stdout.match(/\d+(?=[\d,-]*$)/m);
    const child = spawn('taskset', ['-c', cpu, process.execPath, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const app = onOneCpu(fileURLToPath(new URL('starved.js', import.meta.url)));
  const lines = createInterface(app.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, 'ready');
  // Starved from its start, it would need long to begin. It gets a tenth of the CPU, or less where there are others.
  setPriority(app.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  onOneCpu('-e', 'for (;;);');
  app.stdin.write('begin\n');
  const { loop, text } = JSON.parse((await lines.next()).value);
  assert.ok(loop.starvedTotalMs > loop.starvedTurns * loop.blockedMs);
  assert.match(text, /no CPU for this thread in \d+ turns of .* busy with other work\n/);
});

test('a turn that sleeps in a call, and one that computes, are blocked', async (t) => {
  await sleep(Math.max(0, 1050 - performance.now()));
  const observation = observe();
  t.after(() => observation.stop());
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (const block of [() => Atomics.wait(never, 0, 0, 200), () => busy(200)]) {
    const before = observation.report().loop.blockedTurns;
    do {
      await sleep(1);
      block();
      await new Promise(setImmediate);
    } while (observation.report().loop.blockedTurns === before);
  }
});
