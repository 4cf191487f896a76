/** What a monitor costs and keeps: nothing while the loop sleeps, one sampler for all, nothing after stop(). */
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { monitor } from '@millrace/monitor';
import { collect } from '@millrace/monitor/metrics';
import { block, sleep, soon, turn } from './block.js';
import { result, run } from './run.js';

test('a monitor that was stopped does not count in metrics', () => {
  const watch = monitor();
  const isCounted = () => collect().some(({ name }) => name === 'loop_utilization');
  assert.equal(isCounted(), true);
  watch.stop();
  // It is still there, and would be taken for a loop that never sleeps.
  assert.equal(isCounted(), false);
  assert.equal(watch.loopDelay.max >= 0, true);
});

test('a process that only makes a monitor ends', async () => {
  const script = `
    import { monitor } from '@millrace/monitor';
    monitor();
    monitor({ limit: 1 }).health();
    process.on('exit', () => console.log('ended by itself'));`;
  assert.equal((await run(script)).stdout, 'ended by itself\n');
});

test('a process ends while it is over the limit', async () => {
  const script = `
    import { block } from './block.js';
    import { monitor } from '@millrace/monitor';
    const watch = monitor({ limit: 1, lower: 1e-9, calm: 1_000_000 });
    watch.on('load', () => console.log('load'));
    setTimeout(() => {}, 100);
    block(20);`;
  const { code, stdout } = await run(script);
  assert.equal(code, 0);
  assert.equal(stdout, 'load\n');
});

/** Voluntary context switches, that is sleeps, of the main thread of a server that nobody asks, in two seconds. */
const sleepsOf = (setup) =>
  result(`
    import { readFileSync } from 'node:fs';
    import { createServer } from 'node:http';
    import { monitor } from '@millrace/monitor';
    createServer().listen(0);
    globalThis.kept = ${setup};
    const path = '/proc/self/task/' + process.pid + '/status';
    const switches = () => Number(/^voluntary_ctxt_switches:\\s+(\\d+)/m.exec(readFileSync(path, 'utf8'))[1]);
    setTimeout(() => {
      const before = switches();
      setTimeout(() => {
        console.log(switches() - before);
        process.exit();
      }, 2000);
    }, 1000);`);

if (process.platform === 'linux') {
  test('an idle server sleeps as if nobody watched', async () => {
    // With a probe each 5 ms, if it were set again and again; and never over the limit, however busy the machine is.
    const watch = 'monitor({ limit: 60_000, window: 100 })';
    const [without, one, five] = await Promise.all([
      sleepsOf('null'),
      sleepsOf(watch),
      sleepsOf(`[1, 2, 3, 4, 5].map(() => ${watch})`),
    ]);
    const figures = JSON.stringify({ without, one, five });
    // Each wake of the process's own may bring a few more, above all where it has to share its core; a timer would bring 400.
    assert.ok(one <= without + 50 && five <= without + 50, figures);
  });
}

/** Immediates and timers that are made while the loop turns ten times. */
async function madeInTenTurns() {
  const made = { Immediate: 0, Timeout: 0 };
  const hook = createHook({
    init(_, type) {
      if (type in made) made[type]++;
    },
  });
  hook.enable();
  for (let i = 0; i < 10; i++) await turn();
  hook.disable();
  return made;
}

test('several monitors share one sampler, and stop() gives everything back', async () => {
  const without = await madeInTenTurns();
  // Their probe does not come meanwhile.
  const options = { limit: 60_000, window: 3_600_000 };
  const monitors = [monitor(options)];
  await turn();
  const withOne = await madeInTenTurns();
  for (let i = 0; i < 9; i++) monitors.push(monitor(options));
  await turn();
  const withTen = await madeInTenTurns();
  // The turns of the test are ten immediates. A look each is ten more.
  // Node.js makes one when it tells of a garbage collection.
  const isAbout = (count, expected) => count >= expected - 1 && count <= expected + 5;
  assert.ok(isAbout(without.Immediate, 10), JSON.stringify(without));
  assert.ok(isAbout(withOne.Immediate, 20), JSON.stringify(withOne));
  assert.ok(isAbout(withTen.Immediate, 20), JSON.stringify(withTen));
  assert.ok(withTen.Timeout <= 1, JSON.stringify(withTen));
  for (const each of monitors) each.stop();
  await turn();
  const after = await madeInTenTurns();
  assert.ok(isAbout(after.Immediate, 10) && after.Timeout === 0, JSON.stringify(after));
});

test('stop() takes back the immediate and the timer', async () => {
  const open = new Set();
  const hook = createHook({
    init(id, type) {
      if (type === 'Immediate' || type === 'Timeout') open.add(id);
    },
    destroy(id) {
      open.delete(id);
    },
  });
  hook.enable();
  const watch = monitor();
  hook.disable();
  const made = [...open];
  assert.equal(made.length, 2);
  hook.enable();
  watch.stop();
  await turn();
  hook.disable();
  assert.deepEqual(
    made.filter((id) => open.has(id)),
    [],
  );
});

test('the sampler begins anew after all were stopped', async (t) => {
  monitor().stop();
  const watch = monitor({ limit: 20 });
  t.after(() => {
    watch.stop();
  });
  const load = once(watch, 'load');
  block(60);
  await soon(() => load);
});

test('several monitors have limits of their own', async (t) => {
  const strict = monitor({ limit: 20 });
  const lax = monitor({ limit: 3_600_000, window: 3_600_000 });
  t.after(() => {
    strict.stop();
    lax.stop();
  });
  lax.on('load', () => assert.fail('within its limit'));
  const unload = once(strict, 'unload');
  block(60);
  await soon(() => unload);
  assert.ok(lax.loopDelay.max >= 60);
});

test('works in a worker, on the loop of that worker', async (t) => {
  const watch = monitor({ limit: 60_000 });
  t.after(() => watch.stop());
  const script = `
    const { parentPort } = require('node:worker_threads');
    import('@millrace/monitor').then(({ monitor }) => {
      const watch = monitor({ limit: 20, window: 3_600_000 });
      const alive = setTimeout(() => {}, 3_600_000);
      setTimeout(() => {
        const end = performance.now() + 60;
        while (performance.now() < end);
        // Not before: the start of a worker may be a block, too.
        watch.once('unload', () => {
          parentPort.postMessage(watch.health().loopDelay.max);
          clearTimeout(alive);
        });
      }, 50);
    });`;
  const worker = new Worker(script, { eval: true });
  const exit = once(worker, 'exit');
  const [max] = await once(worker, 'message');
  assert.ok(max >= 59, `${max}`);
  // A monitor keeps no worker, either.
  const [code] = await exit;
  assert.equal(code, 0);
});

test('utilization is that of the window, in a real loop', async (t) => {
  const watch = monitor({ window: 500 });
  t.after(() => watch.stop());
  block(600);
  assert.ok(watch.utilization > 0.99);
  const begin = performance.eventLoopUtilization();
  await sleep(1500);
  const ours = watch.utilization;
  const { active } = performance.eventLoopUtilization(begin);
  // All that the loop did since it slept may have been in the window. Since the beginning it would be 0.4.
  assert.ok(ours <= active / 500 + 0.1, `${ours} and ${active} ms`);
});

test('utilization agrees with what Node.js says, over the same time', async (t) => {
  // The machine may do something else for a while between two lines.
  const longer = performance.eventLoopUtilization();
  const watch = monitor({ window: 3_600_000 });
  const shorter = performance.eventLoopUtilization();
  t.after(() => watch.stop());
  for (let i = 0; i < 5; i++) {
    await sleep(30);
    block(20);
  }
  const least = performance.eventLoopUtilization(shorter).utilization;
  const ours = watch.utilization;
  const most = performance.eventLoopUtilization(longer).utilization;
  assert.ok(ours > least - 0.01 && ours < most + 0.01, `${least}, ${ours} and ${most}`);
});

let known = false;
const theirs = monitorEventLoopDelay({
  get samplePerIteration() {
    known = true;
    return true;
  },
});
if (known) {
  test('loopDelay agrees with the histogram of Node.js that has a sample for each turn', async (t) => {
    t.after(() => theirs.disable());
    // Other work of the machine may come between the ends of their turns, though not each time.
    for (let tries = 1; ; tries++) {
      const watch = monitor({ window: 3_600_000 });
      theirs.reset();
      theirs.enable();
      for (const ms of [30, 10, 60]) {
        await sleep(5);
        block(ms);
        await turn();
      }
      await turn();
      const { max, count } = watch.loopDelay;
      watch.stop();
      theirs.disable();
      const figures = `${max} and ${theirs.max / 1e6}, ${count} and ${theirs.count}`;
      const isClose = Math.abs(max - theirs.max / 1e6) < 15 && Math.abs(count - theirs.count) <= 2;
      if (isClose) return;
      assert.ok(tries < 20, figures);
    }
  });
}
