import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrashWindow, deathsInRow, delayAfter } from '../dist/slot.js';

const options = { respawnDelay: 100, maxRespawnDelay: 1000, healthyAfter: 10_000 };

test('the first respawn is at once, each further one takes twice as long, up to a limit', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 2000].map((deaths) => delayAfter(deaths, options));
  assert.deepEqual(delays, [0, 100, 200, 400, 800, 1000, 1000, 1000]);
});

test('a process that ran long enough has not died before', () => {
  assert.equal(deathsInRow(0, 0, options), 1);
  assert.equal(deathsInRow(4, 9999, options), 5);
  assert.equal(deathsInRow(4, 10_000, options), 1);
  // Who never ran is not healthy, however little that takes.
  assert.equal(deathsInRow(4, 0, { ...options, healthyAfter: 0 }), 5);
});

test('deaths are counted as long as the window lasts', () => {
  const window = new CrashWindow(1000);
  for (const at of [0, 400, 800]) window.record(at);
  assert.equal(window.count(999), 3);
  assert.equal(window.count(1000), 2);
  assert.equal(window.count(1799), 1);
  window.clear();
  assert.equal(window.count(1799), 0);
});
