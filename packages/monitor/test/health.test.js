/** The health report: fields, cores, task queues. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { idleByQuota, idleShares, parseStat } from '@millrace/base/limits/cores';
import { limits, monitor } from '@millrace/monitor';
import { kernelCounts } from '../dist/health.js';
import { block, turn } from './block.js';

test('contents of a report', async (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  block(5);
  await turn();
  await turn();
  const health = watch.health();
  assert.deepEqual(JSON.parse(JSON.stringify(health)), health);
  const { uptime, cpu, memory, tasks, ...loop } = health;
  assert.ok(uptime.process > 0 && uptime.system > uptime.process);
  assert.equal(cpu.loadAverage.length, 3);
  assert.equal(cpu.limit, limits().cpus);
  const { count, idle, busy, each, intervalMs, idleThreshold } = cpu.cores;
  assert.equal(count, Math.ceil(cpu.limit));
  assert.equal(idle + busy, count);
  assert.equal(each.length, limits().affinity);
  for (const { idleShare } of each) assert.ok(idleShare >= 0 && idleShare <= 1);
  assert.ok(intervalMs > 0);
  assert.equal(idleThreshold, 0.1);
  assert.equal(memory.totalBytes, limits().memoryBytes);
  assert.ok(memory.availableBytes > 0 && memory.availableBytes <= memory.totalBytes);
  assert.equal(memory.usedBytes, memory.totalBytes - memory.availableBytes);
  assert.ok(memory.process.rss > memory.process.heapUsed);
  assert.deepEqual(tasks, {});
  const names = ['delay', 'gc', 'kernel', 'limit', 'loopDelay', 'overLimit', 'utilization'];
  assert.deepEqual(Object.keys(loop).sort(), names);
  assert.ok(loop.loopDelay.count >= 1 && loop.loopDelay.max >= 5, JSON.stringify(loop.loopDelay));
  assert.ok(loop.utilization > 0 && loop.utilization <= 1);
});

test('context switches and system calls of the process grow', async (t) => {
  const watch = monitor();
  t.after(() => watch.stop());
  const before = watch.snapshot().kernel;
  for (let i = 0; i < 10; i++) await readFile(new URL(import.meta.url));
  const { switches, calls } = watch.snapshot().kernel;
  assert.ok(switches.voluntary > before.switches.voluntary);
  assert.ok(switches.involuntary >= before.switches.involuntary);
  if (process.platform !== 'linux') return;
  assert.ok(calls.read >= before.calls.read + 10, `${calls.read} after ${before.calls.read}`);
  assert.ok(calls.write >= before.calls.write);
});

test('has no calls where the kernel does not count them', () => {
  const { switches, calls } = kernelCounts('/nowhere');
  assert.equal(calls, null);
  assert.ok(switches.voluntary >= 0);
});

test('a threshold of 1 finds no core idle', (t) => {
  const watch = monitor({ idleThreshold: 1 });
  t.after(() => watch.stop());
  const { idle, busy, count, idleThreshold } = watch.health().cpu.cores;
  assert.deepEqual([idle, busy, idleThreshold], [0, count, 1]);
});

test('task queues: what each source says, and what is wrong with one that throws', (t) => {
  const watch = monitor({
    tasks: {
      pool: { stats: () => ({ queued: 3, running: 2 }) },
      jobs: () => 7,
      broken: () => {
        throw new Error('the queue is gone');
      },
    },
  });
  t.after(() => watch.stop());
  assert.deepEqual(watch.health().tasks, {
    pool: { queued: 3, running: 2 },
    jobs: 7,
    broken: { error: 'the queue is gone' },
  });
});

test('times of cores, out of /proc/stat', () => {
  const text = `cpu  30 0 0 60 10 0 0 0 0 0
cpu0 10 1 2 40 5 0 1 1 9 9
cpu3 20 0 0 20 5 0 0 0 0 0
intr 5 cpu7 1`;
  assert.deepEqual(parseStat(text), [
    { cpu: 0, idle: 45, total: 60 },
    { cpu: 3, idle: 25, total: 45 },
  ]);
});

test('idle shares are those of the interval, of the cores that may be used', () => {
  const from = [0, 1, 2].map((cpu) => ({ cpu, idle: 1000, total: 2000 }));
  const to = [
    { cpu: 0, idle: 1050, total: 2100 },
    { cpu: 1, idle: 1009, total: 2100 },
    { cpu: 2, idle: 1000, total: 2000 },
    { cpu: 3, idle: 30, total: 40 },
  ];
  const share = (cpu, idleShare) => ({ cpu, idleShare });
  assert.deepEqual(idleShares(from, to, null), [
    share(0, 0.5),
    share(1, 0.09),
    share(2, 1),
    share(3, 1),
  ]);
  assert.deepEqual(idleShares(from, to, [1, 3]), [share(1, 0.09), share(3, 1)]);
});

test('cores that a quota still fills', () => {
  const idle = (quota, used) => idleByQuota(quota, used, 0.1);
  assert.deepEqual(
    [idle(2, 0), idle(2, 0.5), idle(2, 0.95), idle(2, 1.5), idle(2, 1.95), idle(2, 2.1)],
    [2, 2, 1, 1, 0, 0],
  );
  assert.deepEqual([idle(1.5, 0), idle(0.5, 0), idle(0.5, 0.45)], [2, 1, 0]);
});
