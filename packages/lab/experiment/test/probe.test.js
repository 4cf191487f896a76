import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { Collector } from '../probe/collector.js';
import { start, steps } from './programs.js';
import { cleanupFor, folderFor } from './support.js';

const MILLRACE = new URL('../../../millrace/dist/', import.meta.url).href;

async function probed(t, args, { env = {}, collections = true, answerMs, ...options } = {}) {
  const collector = await Collector.open(cleanupFor(t), { answerMs });
  const added = collector.env(env, { collections });
  const program = start(t, args, { env: { ...env, ...added }, ...options });
  return { collector, ...program };
}

/** The probe's account of one step, and the time from just before the window. */
async function stepOf(t, step, options) {
  const { collector, says, ask } = await probed(t, ['-e', steps(step)], options);
  assert.equal(await says(), 'up');
  await ask('warm up');
  const from = performance.now();
  await collector.begin();
  await ask('now');
  collector.end();
  const probe = await collector.read();
  return { ...probe, lookedMs: performance.now() - from };
}

test('a process says what its loop, its heap and its collector did', async (t) => {
  const probe = await stepOf(
    t,
    `const end = performance.now() + 400; const kept = [];
    for (let n = 0; n < 1e6 || performance.now() < end; n += 1) kept[n % 1000] = { text: 'x'.repeat(10) + n };
    await new Promise((resolve) => setTimeout(resolve, 100));
    globalThis.held = Buffer.alloc(1e6);`,
  );
  assert.equal(probe.processes, 1);
  // It was busy for 400 ms at least of a window that is no longer than the time for which it was looked at.
  const busyMs = probe.utilization * probe.lookedMs;
  assert.ok(busyMs > 390 && probe.utilization <= 1, `${probe.utilization} of ${probe.lookedMs}`);
  assert.ok(probe.loopDelayMs.max > 300, `${probe.loopDelayMs.max}`);
  assert.ok(probe.loopDelayMs.p50 <= probe.loopDelayMs.p99);
  assert.ok(probe.gcCount > 0 && probe.gcMs > 0);
  assert.ok(probe.heapUsedBytes > 1e6 && probe.heapUsedBytes < probe.heapTotalBytes);
  assert.ok(probe.fragmentation > 0 && probe.fragmentation < 1);
  assert.deepEqual(probe.millrace, {});
  assert.ok(probe.series.heap_used_bytes.length > 0);
});

test('allocations are counted, collected or not', async (t) => {
  // An array of 100 numbers has 16 bytes before them, and the list itself 32.
  const [count, bytes] = [200_000, 848];
  const step = `globalThis.kept ??= [];
    for (let i = 0; i < ${count}; i += 1) kept[i % 20_000] = new Array(100).fill(i + 0.5);`;
  const { allocatedBytes } = await stepOf(t, step);
  const ratio = allocatedBytes / (count * bytes);
  assert.ok(ratio > 0.9 && ratio < 1.2, `${ratio}`);
});

test('collections are looked at only where they are asked for', async (t) => {
  const step = 'for (let i = 0; i < 1e6; i += 1) globalThis.last = [i, [i]];';
  const probe = await stepOf(t, step, { collections: false });
  assert.deepEqual([probe.gcMs, probe.gcCount, probe.allocatedBytes], [null, null, null]);
  assert.ok(probe.heapUsedBytes > 1e6 && probe.fragmentation > 0);
  const { collector, ended } = await probed(t, ['-e', '0'], { collections: false });
  await collector.begin();
  await ended;
  collector.end();
  assert.equal((await collector.read())?.gcMs ?? null, null);
});

test('a lab within one that looks at collections does not look at them unasked', async (t) => {
  process.env.MILLRACE_LAB_COLLECTIONS = '1';
  t.after(() => delete process.env.MILLRACE_LAB_COLLECTIONS);
  const probe = await stepOf(t, 'globalThis.last = [];', { collections: false });
  assert.equal(probe.gcMs, null);
});

test('events before the window do not count', async (t) => {
  const step = `if (line === 'warm up') for (let i = 0; i < 1e6; i += 1) globalThis.last = [i, [i]];
    if (line === 'warm up') { const end = performance.now() + 200; while (performance.now() < end); }`;
  const { allocatedBytes, loopDelayMs, lookedMs } = await stepOf(t, step);
  assert.ok(allocatedBytes < 2e6, `${allocatedBytes}`);
  // No delay is longer than the window; its histogram rounds by a hundredth.
  const maxMs = loopDelayMs?.max ?? 0;
  assert.ok(maxMs <= lookedMs * 1.02, `${maxMs} ${lookedMs}`);
});

test('modules have it, and options of Node.js that are there stay', async (t) => {
  const folder = folderFor(t);
  const path = join(folder, 'app.mjs');
  writeFileSync(
    path,
    `import { createInterface } from 'node:readline';
    console.log(process.title, Object.keys(globalThis).length, process.env.NODE_OPTIONS.split(' ')[0]);
    createInterface({ input: process.stdin }).on('line', () => console.log('done'));`,
  );
  const env = { NODE_OPTIONS: '--title=mine' };
  const { collector, says, ask } = await probed(t, [path], { env });
  const plain = start(t, [path], { env });
  // Nothing is added to what an application sees.
  assert.equal(await says(), await plain.says());
  await collector.begin();
  await ask('now');
  collector.end();
  assert.equal((await collector.read()).processes, 1);
});

test('its path may have spaces and quotes', async (t) => {
  const folder = join(folderFor(t), 'a "quoted" folder');
  const source = dirname(fileURLToPath(new URL('../probe/collector.js', import.meta.url)));
  cpSync(source, folder, { recursive: true });
  const copy = await import(join(folder, 'collector.js').replaceAll('"', '%22'));
  const collector = await copy.Collector.open(cleanupFor(t));
  const { says, ask } = start(t, ['-e', steps('')], { env: collector.env({}) });
  await says();
  await collector.begin();
  await ask('now');
  collector.end();
  assert.equal((await collector.read()).processes, 1);
});

test('every process of a cluster reports, and worker threads do not', async (t) => {
  const source = `const cluster = require('node:cluster');
    const { Worker } = require('node:worker_threads');
    if (cluster.isPrimary) {
      let ready = 0;
      for (let i = 0; i < 2; i += 1) cluster.fork().on('message', () => {
        if (++ready === 2) new Worker('setInterval(() => {}, 1000)', { eval: true }).once('online', () => { ${steps('')} });
      });
    } else { process.send('up'); setInterval(() => {}, 1000); }`;
  const path = join(folderFor(t), 'app.cjs');
  writeFileSync(path, source);
  const { collector, says, ask } = await probed(t, [path]);
  assert.equal(await says(), 'up');
  // The lines of the others may be on their way still.
  await ask('on');
  await collector.begin();
  await ask('now');
  collector.end();
  assert.equal((await collector.read()).processes, 3);
});

test('processes that come in the window count from their start, and those that end to their end', async (t) => {
  const child =
    'const kept = []; for (let i = 0; i < 1e6; i += 1) kept[i % 100] = [i, i + 0.5]; setTimeout(() => {}, 50);';
  const { collector, says, ask } = await probed(t, [
    '-e',
    steps(`const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ['-e', ${JSON.stringify(child)}]);
      await new Promise((resolve) => child.once('close', resolve));`),
  ]);
  await says();
  await collector.begin();
  await ask('now');
  collector.end();
  const probe = await collector.read();
  assert.equal(probe.processes, 2);
  assert.ok(probe.allocatedBytes > 50e6, `${probe.allocatedBytes}`);
});

test('a process that is killed in the middle counts up to its last line', async (t) => {
  const { collector, says, ask, child, ended } = await probed(t, [
    '-e',
    steps('await new Promise((resolve) => setTimeout(resolve, 700));'),
  ]);
  await says();
  await collector.begin();
  await ask('now');
  child.kill('SIGKILL');
  await ended;
  collector.end();
  const probe = await collector.read();
  assert.equal(probe.processes, 1);
  assert.ok(probe.series.utilization.length > 0);
});

test('a loop that is blocked does not hold up the end', async (t) => {
  const args = ['-e', steps('if (line === "block") for (;;);')];
  const { collector, says, child } = await probed(t, args, { answerMs: 500 });
  await says();
  collector.begin();
  child.stdin.write('block\n');
  collector.end();
  const probe = await collector.read();
  assert.ok(probe === null || probe.processes === 1);
});

test('a process ends when it would without a probe, silently', async (t) => {
  const { ended, collector } = await probed(t, ['-e', '0']);
  assert.deepEqual(await ended, [0, null]);
  const { ended: thrown } = await probed(t, ['-e', 'process.exit(7)']);
  assert.deepEqual(await thrown, [7, null]);
  await collector.close();
  const late = start(t, ['-e', 'console.log("ran")'], { env: collector.env({}) });
  assert.equal(await late.says(), 'ran');
  assert.deepEqual(await late.ended, [0, null]);
});

test('an application goes on when the lab is gone', async (t) => {
  const { collector, says, ask } = await probed(t, ['-e', steps('')]);
  await says();
  await collector.close();
  assert.equal(await ask('once'), 'done');
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(await ask('more'), 'done');
});

test('a program that is no Node.js has none', async (t) => {
  const { collector, says } = await probed(t, ['-c', 'echo up; read -r line'], { command: 'sh' });
  assert.equal(await says(), 'up');
  collector.begin();
  collector.end();
  assert.equal(await collector.read(), null);
});

test('lines that no probe writes are passed over', async (t) => {
  const { collector, says, ask } = await probed(t, ['-e', steps('')]);
  const { MILLRACE_LAB_PROBE: path } = collector.env({});
  const stranger = net.connect(path);
  t.after(() => stranger.destroy());
  await once(stranger, 'connect');
  stranger.write('no JSON\n{"at":1}\nnull\n{"at":"x","activeMs":1,"heapUsedBytes":1}\n[]\n');
  await says();
  collector.begin();
  stranger.write('{"mark":"begin 1"\n{}\n');
  await ask('now');
  collector.end();
  stranger.end('{"at":');
  assert.equal((await collector.read()).processes, 1);
});

test('the socket and its folder are gone afterwards', async (t) => {
  const { collector } = await probed(t, ['-e', '0']);
  const { MILLRACE_LAB_PROBE: path } = collector.env({});
  assert.ok(existsSync(path));
  await collector.close();
  assert.equal(existsSync(dirname(path)), false);
});

test("the counters of Millrace's objects move, those of objects that are gone included", async (t) => {
  const source = `import { BatchEmitter } from '${MILLRACE}index.js';
    import { createInterface } from 'node:readline';
    const emitter = new BatchEmitter();
    emitter.on('event', () => {});
    console.log('up');
    createInterface({ input: process.stdin }).on('line', async (line) => {
      for (let i = 0; i < 10; i += 1) emitter.emit('event', i);
      (() => {
        const more = new BatchEmitter();
        more.on('event', () => {});
        more.emit('event', 1);
      })();
      await new Promise((resolve) => setTimeout(resolve, 400));
      gc();
      await new Promise((resolve) => setTimeout(resolve, 400));
      console.log('done');
    });`;
  const path = join(folderFor(t), 'app.mjs');
  writeFileSync(path, source);
  const { collector, says, ask } = await probed(t, ['--expose-gc', path]);
  assert.equal(await says(), 'up');
  await ask('warm up');
  await collector.begin();
  await ask('now');
  collector.end();
  const { millrace } = await collector.read();
  assert.equal(millrace.emitter.delivered, 11);
  assert.equal(millrace.emitter['refused.closed'], 0);
});
