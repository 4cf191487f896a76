import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sampler, Tree } from '../sample/sampler.js';
import { BURN, start, steps } from './programs.js';
import { cleanupFor } from './support.js';

/** A program that does `step` for each line, and its sampler. */
async function sampled(t, step) {
  const program = start(t, ['-e', steps(step)]);
  assert.equal(await program.says(), 'up');
  const sampler = new Sampler(program.child.pid, cleanupFor(t));
  t.after(() => sampler.stop());
  await sampler.ready;
  return { ...program, sampler };
}

/** What a window over one step costs. */
async function costsOf(t, step, { before } = {}) {
  const { sampler, ask } = await sampled(t, step);
  if (before !== undefined) await ask(before);
  await sampler.begin();
  await ask('now');
  sampler.end();
  return sampler.stop();
}

/** A sampler looks four times a second. */
const LOOK_MS = 250;

/** Lets a sampler look so many times at least, on a busy machine too: of two timers the one that is due first comes first. */
async function looks(count) {
  for (let look = 0; look < count; look += 1) await sleep(LOOK_MS + 10);
}

const inChild = (source) =>
  `const { spawn } = require('node:child_process');
  const child = spawn(process.execPath, ['-e', ${JSON.stringify(source)}], { stdio: ['ignore', 'inherit', 'inherit'] });`;

test("a process's CPU time in the window counts, and what it used before does not", async (t) => {
  const step = `for (let i = line === 'before' ? 5 : 1; i > 0; i--) { ${BURN} }`;
  const { cpuS, cpuUserS, cpuSystemS, wallS } = await costsOf(t, step, { before: 'before' });
  assert.ok(cpuS >= 0.19 && cpuS < 1, `${cpuS}`);
  assert.ok(Math.abs(cpuS - cpuUserS - cpuSystemS) < 1e-9);
  assert.ok(cpuUserS > 0.15 && wallS >= 0.19, `${cpuUserS} ${wallS}`);
});

test('so does that of a child which has ended', async (t) => {
  const run = `${inChild(BURN)} await new Promise((resolve) => child.once('close', resolve));`;
  const { cpuS } = await costsOf(t, run);
  assert.ok(cpuS >= 0.19, `${cpuS}`);
});

test('which counts once, also before the next look at the processes', async (t) => {
  const step = `if (line === 'burn') { ${inChild(`process.on('message', (word) => { if (word === 'end') process.exit(); ${BURN} process.send('burnt'); });`).replace("'ignore', 'inherit', 'inherit'", "'ignore', 'inherit', 'inherit', 'ipc'")}
      globalThis.child = child; child.send('go'); await new Promise((resolve) => child.once('message', resolve));
    } else { child.send('end'); await new Promise((resolve) => child.once('exit', resolve)); }`;
  const { child, says, ask } = start(t, ['-e', steps(step)]);
  await says();
  const tree = new Tree(child.pid);
  await ask('burn');
  const used = ({ userUs, systemUs }) => userUs + systemUs;
  const before = used(tree.cpu());
  await ask('end');
  const after = used(tree.cpu());
  assert.ok(before >= 200_000 && after >= before && after < before + 150_000, `${before} ${after}`);
});

test('and that of one which goes on when its parent has ended', async (t) => {
  const grandchild = `process.on('SIGUSR2', () => { ${BURN} console.log('burnt'); });
    setInterval(() => {}, 60_000);
    console.log(process.pid);`;
  const shell = `'"$0" -e "$1" & read -r _'`;
  const step = `if (line === 'end') globalThis.shell.stdin.end('\\n');
    else {
      globalThis.shell = require('node:child_process').spawn('sh',
        ['-c', ${shell}, process.execPath, ${JSON.stringify(grandchild)}],
        { stdio: ['pipe', 'inherit', 'inherit'] });
    }
    if (line === 'end') await new Promise((resolve) => shell.once('exit', resolve));`;
  const { sampler, ask, says } = await sampled(t, step);
  // Both write a line, in either order.
  const lines = [await ask('start'), await says()];
  const pid = Number(lines.find((line) => /^\d+$/.test(line)));
  t.after(() => process.kill(pid, 'SIGKILL'));
  sampler.begin();
  await ask('end');
  process.kill(pid, 'SIGUSR2');
  assert.equal(await says(), 'burnt');
  sampler.end();
  const { cpuS } = await sampler.stop();
  assert.ok(cpuS >= 0.19, `${cpuS}`);
});

test('threads, memory and descriptors are the most that was in use', async (t) => {
  const step = `const fs = require('node:fs');
    if (line === 'hold') {
      const { Worker } = require('node:worker_threads');
      globalThis.held = Buffer.alloc(150e6, 1);
      globalThis.files = Array.from({ length: 100 }, () => fs.openSync(process.execPath));
      globalThis.worker = new Worker("require('node:worker_threads').parentPort.once('message', () => {})", { eval: true });
      await new Promise((resolve) => worker.once('online', resolve));
    } else {
      for (const file of files) fs.closeSync(file);
      await worker.terminate();
      globalThis.held = null;
    }`;
  const { sampler, ask } = await sampled(t, step);
  await sampler.begin();
  await ask('hold');
  await looks(3);
  await ask('free');
  sampler.end();
  const { peakRssBytes, peakThreads, peakDescriptors, series } = await sampler.stop();
  assert.ok(peakRssBytes > 150e6, `${peakRssBytes}`);
  assert.ok(peakDescriptors >= 115, `${peakDescriptors}`);
  const [first] = series.threads[0].slice(1);
  assert.ok(peakThreads > first, `${peakThreads} ${first}`);
  const { length } = series.cpu;
  assert.ok(length >= 3, `${length}`);
  for (const name of ['rss_bytes', 'threads', 'descriptors']) {
    assert.equal(series[name].length, length + 1);
  }
  assert.ok(series.cpu.every(([at, cores]) => at > 0 && cores >= 0));
});

test('the peak of memory is that of the window', async (t) => {
  // The collector frees buffers in a thread of its own.
  const step = `if (line === 'before') {
      Buffer.alloc(200e6, 1);
      do {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 10));
      } while (process.memoryUsage.rss() > 150e6);
    }`;
  const program = start(t, ['--expose-gc', '-e', steps(step)]);
  await program.says();
  const sampler = new Sampler(program.child.pid, cleanupFor(t));
  t.after(() => sampler.stop());
  await sampler.ready;
  await program.ask('before');
  sampler.begin();
  await looks(1);
  await program.ask('now');
  sampler.end();
  const { peakRssBytes } = await sampler.stop();
  assert.ok(peakRssBytes < 200e6, `${peakRssBytes}`);
});

test('a process that goes to sleep n times has so many voluntary context switches', async (t) => {
  const sleeps = 200;
  const step = `const cell = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < ${sleeps}; i += 1) Atomics.wait(cell, 0, 0, 1);`;
  const { voluntarySwitches, involuntarySwitches } = await costsOf(t, step);
  assert.ok(voluntarySwitches >= sleeps, `${voluntarySwitches}`);
  assert.ok(voluntarySwitches < 2 * sleeps, `${voluntarySwitches}`);
  assert.ok(involuntarySwitches >= 0);
});

test('those of a thread that has ended meanwhile stay', async (t) => {
  const worker = `const { parentPort } = require('node:worker_threads');
    const cell = new Int32Array(new SharedArrayBuffer(4));
    for (let i = 0; i < 300; i += 1) Atomics.wait(cell, 0, 0, 1);
    parentPort.once('message', () => {});
    parentPort.postMessage('slept');`;
  const step = `if (line === 'sleep') {
      const { Worker } = require('node:worker_threads');
      globalThis.worker = new Worker(${JSON.stringify(worker)}, { eval: true });
      await new Promise((resolve) => globalThis.worker.once('message', resolve));
    } else {
      globalThis.worker.postMessage('end');
      await new Promise((resolve) => globalThis.worker.once('exit', resolve));
    }`;
  const { sampler, ask } = await sampled(t, step);
  await sampler.begin();
  await ask('sleep');
  await looks(1);
  await ask('end');
  sampler.end();
  const { voluntarySwitches } = await sampler.stop();
  assert.ok(voluntarySwitches >= 300, `${voluntarySwitches}`);
});

/** Whether perf may count here. */
const mayCount = () => {
  const args = ['stat', '-x,', '-e', 'raw_syscalls:sys_enter', 'true'];
  return /^\d+,,raw/m.test(`${spawnSync('perf', args).stderr}`);
};

test('system calls are counted where perf may, and are null where there is none', async (t) => {
  const calls = 5000;
  const step = `const fs = require('node:fs'); const file = fs.openSync('/dev/null', 'w');
    for (let i = 0; i < ${calls}; i += 1) fs.writeSync(file, 'x');`;
  const { syscalls } = await costsOf(t, step, { before: 'before' });
  if (mayCount()) assert.ok(syscalls >= calls && syscalls < 1.5 * calls, `${syscalls}`);
  else assert.equal(syscalls, null);

  const path = process.env.PATH;
  process.env.PATH = '/nowhere';
  t.after(() => {
    process.env.PATH = path;
  });
  assert.equal((await costsOf(t, step)).syscalls, null);
});

test('a window that begins again forgets what came before', async (t) => {
  const { sampler, ask } = await sampled(t, `if (line === 'burn') { ${BURN} }`);
  sampler.begin();
  await ask('burn');
  sampler.begin();
  await ask('rest');
  sampler.end();
  await ask('burn');
  sampler.end();
  const { cpuS, syscalls } = await sampler.stop();
  assert.ok(cpuS < 0.15, `${cpuS}`);
  assert.ok(syscalls === null || syscalls < 1000, `${syscalls}`);
});

test('a process that is gone has used what was seen, and is no error', async (t) => {
  const { sampler, child, ended } = await sampled(t, '');
  sampler.begin();
  child.kill('SIGKILL');
  await ended;
  sampler.end();
  const costs = await sampler.stop();
  assert.ok(costs.cpuS >= 0 && costs.cpuS < 0.2, `${costs.cpuS}`);
  assert.equal(costs.rssBytes, 0);
  assert.ok(costs.peakRssBytes > 10e6);
});

test('a sampler that has not begun can be stopped', async (t) => {
  const { sampler } = await sampled(t, '');
  assert.equal(await sampler.stop(), null);
});
