// What a test starts does not outlive it, whatever ends the test.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { unable } from './nats.js';
import { node } from './process.js';

const isThere = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('kill -9 of a test ends its servers and programs too', { skip: unable }, async (t) => {
  const script = new URL('./programs/starts.js', import.meta.url);
  const peer = node(t, script);
  const { pids, folder } = await peer.says();
  assert.deepEqual(pids.map(isThere), [true, true]);
  assert.equal(existsSync(folder), true);
  await peer.kill();
  while (pids.some(isThere) || existsSync(folder)) await sleep(10);
});
