/** A block is told soon, wherever it happens, and also when the loop sleeps directly after it. */
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { open, stat } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { monitor } from '@millrace/monitor';
import { block, blockAsleep, sleep, soon, turn } from './block.js';
import { result, run } from './run.js';

/** Blocks by way of `where` in a loop that has been asleep, and sleeps for long after it. */
async function loadOf(t, where, how = block) {
  const watch = monitor({ limit: 20 });
  t.after(() => watch.stop());
  await soon(async (blocks) => {
    await sleep(200);
    // A busy machine may have blocked it before.
    while (watch.overLimit) await once(watch, 'unload');
    const load = once(watch, 'load');
    where(() => {
      blocks();
      how(60);
    });
    await load;
  });
  // A turn is in the histogram when it has ended.
  await turn();
  assert.ok(watch.loopDelay.max > 20, JSON.stringify(watch.loopDelay));
}

const places = {
  'a timer': (fn) => setTimeout(fn, 100),
  'a callback of I/O': (fn) => open('/', 'r', fn),
  'an immediate': (fn) => setImmediate(fn),
  'an immediate of an immediate': (fn) => setImmediate(setImmediate, fn),
  'a microtask': (fn) => queueMicrotask(fn),
  'the very code that runs': (fn) => fn(),
  'the last of some timers': (fn) => {
    for (let ms = 95; ms < 100; ms++) setTimeout(() => {}, ms);
    setTimeout(fn, 100);
  },
};

for (const [place, where] of Object.entries(places)) {
  test(`a block in ${place}`, (t) => loadOf(t, where));
}

test('a block in a timer that runs directly after that of the monitor', async (t) => {
  // It does so only if both begin in the same millisecond. If the machine does something else between the two, it may come along
  // with the monitor's last timer, which is the one gap that there is. A timer that comes late shows such a machine.
  const late = [];
  for (let tries = 0, counted = 0; tries < 60 && counted < 6; tries++) {
    let lateMs;
    const where = (fn) => {
      const due = performance.now() + 20;
      setTimeout(() => {
        lateMs = performance.now() - due;
        fn();
      }, 20);
    };
    let error = null;
    await loadOf(t, where, blockAsleep).catch((why) => {
      error = why;
    });
    if (lateMs > 1.5) continue;
    counted++;
    if (error !== null) late.push(error);
  }
  assert.ok(late.length < 3, `${late.length}: ${late[0]}`);
});

test('a block in an immediate that a timer sets along with the probe', async (t) => {
  const where = (fn) => setTimeout(() => setImmediate(fn), 20);
  for (let i = 0; i < 3; i++) await loadOf(t, where, blockAsleep);
});

test('a block in the turn in which a second monitor was made, which is stricter', async (t) => {
  const lax = monitor({ limit: 60_000, window: 3_600_000 });
  t.after(() => lax.stop());
  await sleep(100);
  const strict = monitor({ limit: 20 });
  t.after(() => strict.stop());
  await soon((blocks) => {
    blocks();
    blockAsleep(60);
    return once(strict, 'load');
  });
});

test('a block of the main script, before the loop has begun', async () => {
  const script = `
    import { block } from './block.js';
    import { monitor } from '@millrace/monitor';
    const events = [];
    const watch = monitor({ limit: 20 });
    watch.on('load', () => events.push('load')).on('unload', () => {
      console.log(JSON.stringify([...events, 'unload']));
      process.exit();
    });
    setTimeout(() => process.exit(1), 60_000);
    block(60);`;
  assert.deepEqual(await result(script), ['load', 'unload']);
});

test('a loop that sleeps is not blocked', async (t) => {
  const limit = 100;
  // A machine that is busy elsewhere may keep the loop from running, though not each time.
  for (let tries = 1; ; tries++) {
    const watch = monitor({ limit });
    t.after(() => watch.stop());
    let isLoaded = false;
    watch.on('load', () => {
      isLoaded = true;
    });
    await sleep(3 * limit);
    await turn();
    const { max } = watch.loopDelay;
    watch.stop();
    if (!isLoaded && max < limit) return;
    assert.ok(tries < 50, `asleep, not blocked for ${max} ms`);
  }
});

test('a block just after the monitor was made, in a timer of a loop that sleeps then', async () => {
  const script = `
    import { block, soon } from './block.js';
    import { monitor } from '@millrace/monitor';
    const inTimer = (resolve) => {
      monitor({ limit: 20 }).on('load', resolve);
      block(60);
    };
    await soon(() => new Promise((resolve) => setTimeout(inTimer, 100, resolve)));
    console.log('"load"');
    process.exit();`;
  assert.equal(await result(script), 'load');
});

test('load comes before the I/O that has waited, so that its handlers know', async (t) => {
  const watch = monitor({ limit: 20 });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(server.address().port, '127.0.0.1');
  const [socket] = await once(server, 'connection');
  t.after(() => {
    watch.stop();
    client.destroy();
    server.close();
  });
  const data = once(socket, 'data').then(() => watch.overLimit);
  await sleep(200);
  setImmediate(() => {
    client.write('x');
    block(60);
  });
  assert.equal(await data, true);
});

test('a block before the monitor is not counted', async () => {
  const limit = 100;
  // A machine that is busy elsewhere may block it afterwards, though not each time.
  for (let tries = 1; ; tries++) {
    // From here on it is an immediate, so that the timer of the first one comes before the next look.
    await turn();
    const first = monitor({ limit });
    block(1.5 * limit);
    const second = monitor({ limit });
    let isTold = false;
    second.on('load', () => {
      isTold = true;
    });
    await soon(() => once(first, 'load').then(() => once(first, 'unload')));
    first.stop();
    second.stop();
    if (!isTold) return;
    assert.ok(tries < 50, 'the block was over when it was made');
  }
});

test('a monitor that a listener makes has no delay of before it, and none below 0', async (t) => {
  const first = monitor({ limit: 20 });
  t.after(() => first.stop());
  const made = new Promise((resolve) => {
    first.once('load', () => {
      // So that it is younger than the time of the look that told of the load.
      block(5);
      const second = monitor({ limit: 60_000 });
      t.after(() => second.stop());
      // The others are told first, then this one.
      process.nextTick(() => resolve(second.delay));
    });
  });
  // Told of in the check phase, at the end of the turn.
  stat('/', () => block(60));
  assert.equal(await soon(() => made), 0);
});

test('listeners do not have the AsyncLocalStorage values of the code that made the monitor', async (t) => {
  const storage = new AsyncLocalStorage();
  const watch = storage.run('a request', () => monitor({ limit: 20 }));
  t.after(() => watch.stop());
  const seen = new Promise((resolve) => {
    watch.on('load', () => resolve(storage.getStore()));
  });
  block(60);
  assert.equal(await soon(() => seen), undefined);
});

test('a listener that throws is an uncaught exception, and the others still run', async () => {
  const script = `
    import { block } from './block.js';
    import { monitor } from '@millrace/monitor';
    const seen = [];
    process.on('uncaughtException', ({ message }) => seen.push(message));
    monitor({ limit: 20 }).on('load', () => { throw new Error('a broken listener'); });
    const second = monitor({ limit: 20 });
    second.on('load', () => seen.push('load'));
    second.once('unload', () => {
      block(60);
      second.once('unload', () => {
        console.log(JSON.stringify(seen));
        process.exit();
      });
    });
    setTimeout(() => process.exit(1), 60_000);
    block(60);`;
  const seen = await result(script);
  const loads = seen.filter((each) => each === 'load').length;
  assert.ok(loads >= 2);
  // One for each.
  assert.equal(seen.length, 2 * loads, JSON.stringify(seen));
});

test('a listener that stops its monitor ends it', async () => {
  const script = `
    import { block } from './block.js';
    import { monitor } from '@millrace/monitor';
    const watch = monitor({ limit: 20 });
    watch.on('load', () => { console.log('load'); watch.stop(); });
    setTimeout(() => { block(60); }, 100);
    block(60);`;
  const { code, stdout } = await run(script);
  assert.equal(code, 0);
  assert.equal(stdout, 'load\n');
});
