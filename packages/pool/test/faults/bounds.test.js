// Injected: more calls than there is room for, a queue of length 0, memory that is short, balancers and queues that throw. Counted: calls that
// were refused, and that those that were taken run, once.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ArrayTaskQueue } from '@millrace/pool';
import { MemoryWatch } from '../../dist/memory.js';
import { settingsOf } from '../../dist/options.js';
import { FairQueue } from '../../dist/queue.js';
import { Scheduler } from '../../dist/scheduler.js';
import { Functions, Task } from '../../dist/task.js';
import {
  atRest,
  counters,
  folder,
  holding,
  open,
  outcomes,
  repeat,
  tasks,
  until,
} from './support.js';

const gate = () => new Int32Array(new SharedArrayBuffer(4));

function openGate(gate) {
  Atomics.store(gate, 0, 1);
  Atomics.notify(gate, 0);
}

for (const maxQueue of [0, 1, 50]) {
  test(`a queue of ${maxQueue} that is full: refused is counted, what was taken runs once`, async (t) => {
    const runs = counters(1 + maxQueue);
    const held = gate();
    const pool = open(t, { maxThreads: 1, maxQueue, workerData: { runs, gate: held } });
    const [first] = await holding(pool, 1, () => [pool.run(0, { name: 'hold' })]);
    const taken = repeat(maxQueue, (n) => pool.run(1 + n, { name: 'count' }));
    const controller = new AbortController();
    const { signal } = controller;
    const refused = repeat(100, () => pool.run(0, { name: 'count', signal }));
    assert.deepEqual(await outcomes(refused), { MILLRACE_E_OVERLOADED: 100 });
    assert.equal(pool.stats().refused, 100);
    assert.equal(pool.queueSize, maxQueue);
    openGate(held);
    assert.deepEqual(await outcomes([first, ...taken]), { ok: 1 + maxQueue });
    assert.deepEqual(
      [...runs],
      repeat(1 + maxQueue, () => 1),
    );
    assert.equal(await pool.run(5), 5);
    controller.abort();
    await atRest(pool, maxQueue + 2);
  });
}

test('calls that are refused leave no listener on their signal', async (t) => {
  const held = gate();
  const pool = open(t, { maxThreads: 1, maxQueue: 0, workerData: { gate: held } });
  const [first] = await holding(pool, 1, () => [pool.run(undefined, { name: 'hold' })]);
  let listeners = 0;
  const signal = new EventTarget();
  signal.addEventListener = () => listeners++;
  signal.removeEventListener = () => listeners--;
  await assert.rejects(pool.run(1, { signal }), { code: 'MILLRACE_E_OVERLOADED' });
  await assert.rejects(
    pool.run(() => {}, { signal }),
    { code: 'MILLRACE_E_OVERLOADED' },
  );
  openGate(held);
  await first;
  await assert.rejects(
    pool.run(() => {}, { signal }),
    { code: 'MILLRACE_E_INVALID_ARGUMENT' },
  );
  assert.equal(await pool.run(1, { signal }), 1);
  assert.equal(listeners, 0);
});

test('memory is short: one task at a time, none lost, and all of them once there is enough', async (t) => {
  const mebi = 2 ** 20;
  const files = folder(t);
  const group = 'sys/fs/cgroup/';
  const write = (name, text) => {
    mkdirSync(dirname(files.path(name)), { recursive: true });
    writeFileSync(files.path(name), text);
  };
  const use = (megabytes) => write(`${group}memory.current`, `${megabytes * mebi}\n`);
  write('proc/self/cgroup', '0::/\n');
  write('proc/self/mountinfo', '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n');
  write('proc/meminfo', 'MemTotal: 16777216 kB\nMemAvailable: 16777216 kB\n');
  write(`${group}memory.max`, `${100 * mebi}\n`);
  write(`${group}memory.stat`, 'inactive_file 0\nactive_file 0\n');
  use(10);
  let clock = 0;
  const usage = () => ({ rss: 60 * mebi, heapTotal: 0, external: 0 });
  const memory = new MemoryWatch({ root: files.path('.'), usage, clock: () => clock });
  const runs = counters(2);
  const settings = settingsOf({
    filename: tasks,
    minThreads: 2,
    maxThreads: 2,
    workerData: { runs },
  });
  const reasons = [];
  const events = { emit() {}, allocated: (reason) => reasons.push(reason) };
  const scheduler = new Scheduler(settings, new FairQueue(1000), events);
  scheduler.workers.memory = memory;
  t.after(() => scheduler.destroy());
  await scheduler.workers.prewarm(2);
  const of = new Functions().get(fileURLToPath(tasks), 'beside');
  const run = () =>
    new Promise((resolve, reject) => {
      scheduler.submit(new Task(of, 2, 1, scheduler.nowMs(), resolve, reject, null));
    });
  assert.equal(memory.look().throttled, false);
  use(95);
  clock += 1000;
  const calls = repeat(20, run);
  assert.deepEqual(await outcomes(calls), { ok: 20 });
  assert.equal(runs[1], 1, 'ran beside one another');
  assert.equal(scheduler.workers.throttled, true);
  use(10);
  clock += 1000;
  // On a busy machine one worker can be through with all of them before the other gets a CPU.
  do assert.deepEqual(await outcomes(repeat(20, run)), { ok: 20 });
  while (runs[1] < 2);
  assert.equal(scheduler.workers.throttled, false);
  assert.deepEqual(
    reasons.filter((reason) => reason === 'memory'),
    ['memory', 'memory'],
  );
  await until(() => scheduler.running === 0 && scheduler.queueSize === 0);
});

test('a balancer that throws: that call fails, and no other', async (t) => {
  let asked = 0;
  const pool = open(t, {
    loadBalancer: (_task, workers) => {
      if (++asked % 10 === 3) throw new Error('no idea');
      return workers.find((worker) => worker.currentUsage === 0) ?? null;
    },
  });
  const { ok, 'Error: no idea': failed } = await outcomes(repeat(100, (n) => pool.run(n)));
  assert.ok(failed > 0);
  assert.equal(ok + failed, 100);
  await atRest(pool, 100);
});

test('a balancer that answers with anything: tasks run or wait, and none is lost', async (t) => {
  const answers = [undefined, null, 5, {}, 'worker'];
  let asked = 0;
  const loadBalancer = (_task, workers) => answers[asked++ % 6] ?? workers[0];
  const pool = open(t, { loadBalancer });
  assert.deepEqual(await outcomes(repeat(100, (n) => pool.run(n))), { ok: 100 });
  await atRest(pool, 100);
});

test("a user's queue that throws: that call fails, and those that were taken run", async (t) => {
  class Picky extends ArrayTaskQueue {
    push(task) {
      if (task.name === 'count') throw new Error('not this one');
      super.push(task);
    }
  }
  const pool = open(t, { taskQueue: new Picky() });
  const { signal } = new AbortController();
  const calls = repeat(50, (n) => [
    pool.run(n),
    pool.run(n, { name: 'count' }),
    pool.run(n, { name: 'count', signal }),
  ]).flat();
  assert.deepEqual(await outcomes(calls), { ok: 50, 'Error: not this one': 100 });
  await atRest(pool, 50);
});
