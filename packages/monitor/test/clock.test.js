/** A jump of the time of day, and fake timers, change nothing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mock, test } from 'node:test';
import { block, sleep, soon, turn } from './block.js';

let jump = 0;
const { now } = Date;
Date.now = () => now() + jump;
// Only now, so that it would get the clock that jumps.
const { monitor } = await import('@millrace/monitor');

test('the time of day jumps forwards and backwards: no load, no unload, same figures', async (t) => {
  // Less than a jump, and more than a machine may keep the loop from running.
  const limit = 3_600_000;
  const watch = monitor({ limit, window: 10_000 });
  const events = [];
  watch.on('load', () => events.push('load')).on('unload', () => events.push('unload'));
  t.after(() => {
    jump = 0;
    watch.stop();
  });
  for (jump of [86_400_000, -86_400_000, 3_600_000_000, -3_600_000_000]) {
    await sleep(20);
    await turn();
    assert.ok(watch.delay >= 0 && watch.delay < limit);
    assert.ok(watch.utilization >= 0 && watch.utilization <= 1);
    assert.ok(watch.loopDelay.max < limit);
    const { uptime, cpu } = watch.health();
    assert.ok(uptime.process > 0 && uptime.process < 86_400);
    assert.ok(cpu.cores.intervalMs > 0);
  }
  assert.deepEqual(events, []);
});

test('a block is seen while the time of day goes back', async (t) => {
  const watch = monitor({ limit: 20 });
  t.after(() => {
    jump = 0;
    watch.stop();
  });
  jump = -1e9;
  const load = once(watch, 'load');
  const unload = once(watch, 'unload');
  block(60);
  await soon(() => load);
  jump = -2e12;
  await soon(() => unload);
});

test('fake timers of a test do not reach it', async (t) => {
  const watch = monitor({ limit: 20 });
  t.after(() => {
    mock.timers.reset();
    watch.stop();
  });
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
  const load = once(watch, 'load');
  block(60);
  await soon(() => load);
});
