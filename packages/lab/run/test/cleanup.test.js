import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cleanup } from '../cleanup.js';

test('tasks run last first, one after another, and once', async () => {
  const cleanup = new Cleanup();
  const done = [];
  cleanup.add(() => done.push('first'));
  const takeBack = cleanup.add(() => done.push('taken back'));
  cleanup.add(async () => {
    await sleep(5);
    done.push('last');
  });
  takeBack();
  await Promise.all([cleanup.run(), cleanup.run()]);
  await cleanup.run();
  assert.deepEqual(done, ['last', 'first']);
});

test('a task that fails is reported, and the others run', async (t) => {
  const told = t.mock.method(console, 'error', () => {});
  const cleanup = new Cleanup();
  let isDone = false;
  cleanup.add(() => {
    isDone = true;
  });
  cleanup.add(() => {
    throw new Error('the disk is gone');
  });
  await cleanup.run();
  assert.equal(isDone, true);
  assert.deepEqual(told.mock.calls[0].arguments, ['clean-up: the disk is gone']);
});

test('the exit aborts what is under way, cleans up, and happens once', async (t) => {
  const exit = t.mock.method(process, 'exit', () => {});
  const cleanup = new Cleanup();
  let wasAborted;
  cleanup.add(() => {
    wasAborted = cleanup.signal.aborted;
  });
  await Promise.all([cleanup.exit(130), cleanup.exit(1)]);
  assert.equal(wasAborted, true);
  assert.deepEqual(
    exit.mock.calls.map((call) => call.arguments),
    [[130]],
  );
});
