/** Limits on workers that may have tasks: on a machine that is made up, with a clock of its own, and beside programs that really compute. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { IdleCores, ownUse } from '../dist/idle-cores.js';
import { open, repeat, until } from './support.js';

const unlimited = Number.POSITIVE_INFINITY;

/**
 * A machine with some cores, on which the scheduler is fair: others compute in `burners` threads, this process in `tasks`, and its
 * loop for `loop` of the time beside them. `pass(ms)` lets time go by.
 */
function machine(t, { cores = 2, quota = null } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'millrace-cores-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (path, text) => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('proc/self/status', `Cpus_allowed_list:\t0-${cores - 1}\n`);
  if (quota !== null) {
    write('proc/self/cgroup', '0::/\n');
    write('proc/self/mountinfo', '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n');
    write('sys/fs/cgroup/cpu.max', `${quota * 100_000} 100000\n`);
  }
  const state = { burners: 0, tasks: 0, loop: 0, inGroup: 0 };
  let nowMs = 0;
  let busyMs = 0;
  let groupMs = 0;
  const own = { processMs: 0, wantedMs: 0 };
  const tell = () => {
    // Ticks of a ms, a thousand of them before the machine was looked at, all of them busy.
    const busy = Math.round(1000 + busyMs / cores);
    const idle = Math.round(1000 + nowMs) - busy;
    const lines = repeat(cores, (cpu) => `cpu${cpu} ${busy} 0 0 ${idle} 0 0 0 0 0 0\n`);
    write('proc/stat', `cpu  1 0 0 1\n${lines.join('')}intr 5\n`);
    if (quota !== null) {
      write('sys/fs/cgroup/cpu.stat', `usage_usec ${Math.round(groupMs * 1000)}\n`);
    }
  };
  const pass = (ms) => {
    const { burners, tasks, loop, inGroup } = state;
    const threads = burners + tasks + loop + inGroup;
    const each = threads === 0 ? 0 : Math.min(1, cores / threads);
    nowMs += ms;
    busyMs += ms * each * threads;
    groupMs += ms * each * (tasks + loop + inGroup);
    own.processMs += ms * each * (tasks + loop);
    own.wantedMs += ms * tasks;
    tell();
  };
  tell();
  const watch = new IdleCores({ root, clock: () => nowMs, usage: () => ({ ...own }) });
  /** Its answers after each of some looks. */
  const looks = (count, ms = 250) =>
    repeat(count, () => {
      pass(ms);
      return watch.allowed();
    });
  return { state, pass, looks, watch, write, root };
}

test('four programs that compute, on two cores, leave one task at a time', (t) => {
  const { state, looks } = machine(t);
  Object.assign(state, { burners: 4, tasks: 2 });
  assert.deepEqual(looks(4), [1, 1, 1, 1]);
  state.tasks = 1;
  assert.deepEqual(looks(4), [1, 1, 1, 1]);
});

test('when they end, both cores are used within a second', (t) => {
  const { state, looks } = machine(t);
  Object.assign(state, { burners: 4, tasks: 1 });
  looks(8);
  state.burners = 0;
  const after = looks(4);
  assert.ok(after.includes(2), `${after}`);
  assert.equal(after.at(-1), 2);
});

test('one program that computes leaves one of two cores, and three of four', (t) => {
  const two = machine(t);
  Object.assign(two.state, { burners: 1, tasks: 1 });
  assert.deepEqual(two.looks(3), [1, 1, 1]);
  const four = machine(t, { cores: 4 });
  Object.assign(four.state, { burners: 1, tasks: 3 });
  assert.deepEqual(four.looks(3), [3, 3, 3]);
});

test('own tasks alone never limit, with a quota or without, whatever the loop does beside them', (t) => {
  for (const quota of [null, 2]) {
    for (const loop of [0, 1]) {
      const { state, looks } = machine(t, { cores: 4, quota });
      Object.assign(state, { tasks: 4, loop });
      assert.deepEqual(
        looks(4),
        repeat(4, () => quota ?? 4),
      );
    }
  }
});

test('a quota: what others in the group use is not there', (t) => {
  const { state, looks } = machine(t, { cores: 8, quota: 3 });
  Object.assign(state, { tasks: 1, inGroup: 2 });
  assert.deepEqual(looks(3), [1, 1, 1]);
  state.inGroup = 0;
  assert.deepEqual(looks(4).at(-1), 3);
  // Others outside of it take cores, and nothing of the quota.
  state.burners = 5;
  assert.deepEqual(looks(6).at(-1), 3);
  state.burners = 7;
  assert.deepEqual(looks(6).at(-1), 1);
});

test('a quota whose use is not known limits by the quota', (t) => {
  const { state, pass, watch, write } = machine(t, { cores: 8, quota: 3 });
  Object.assign(state, { tasks: 1, inGroup: 2 });
  const said = repeat(3, () => {
    pass(250);
    write('sys/fs/cgroup/cpu.stat', 'user_usec 1\n');
    return watch.allowed();
  });
  assert.deepEqual(said, [3, 3, 3]);
});

test('tasks that wait are not limited, as they may need one another, even if the loop computes', (t) => {
  for (const loop of [0, 1]) {
    const { state, looks } = machine(t);
    Object.assign(state, { burners: 4, tasks: 0.05, loop });
    assert.deepEqual(
      looks(4),
      repeat(4, () => unlimited),
    );
    state.tasks = 1;
    assert.equal(looks(1)[0], 1);
  }
});

test('tasks that get hardly any time, as very many others compute, do not count as waiting', (t) => {
  const { state, looks } = machine(t);
  Object.assign(state, { burners: 100, tasks: 1 });
  assert.deepEqual(looks(4), [1, 1, 1, 1]);
});

test('no limit before there is a window of 100 ms', (t) => {
  const { state, looks } = machine(t);
  Object.assign(state, { burners: 4, tasks: 1 });
  assert.deepEqual(looks(3, 40), [unlimited, unlimited, 1]);
});

test('a look counts for 250 ms, and half as much as what was before', (t) => {
  const { state, looks } = machine(t, { cores: 8 });
  Object.assign(state, { burners: 4, tasks: 1 });
  assert.deepEqual(looks(1), [4]);
  state.burners = 0;
  assert.deepEqual(looks(2, 120), [4, 4]);
  assert.deepEqual(looks(1, 10), [6]);
  assert.deepEqual(looks(1), [7]);
});

test('after a long time without a look, the time since then counts, and nothing before it', (t) => {
  const { state, looks } = machine(t);
  Object.assign(state, { burners: 4, tasks: 1 });
  assert.deepEqual(looks(2, 10_000), [1, 1]);
  state.burners = 0;
  assert.deepEqual(looks(1, 10_000), [2]);
  state.burners = 4;
  assert.deepEqual(looks(1, 10_000), [1]);
  // Nothing ran, so nothing is known of tasks.
  state.tasks = 0;
  assert.deepEqual(looks(1, 60_000), [unlimited]);
});

test('files that say nothing of use limit nothing', (t) => {
  for (const text of [
    '',
    'nonsense\n',
    'cpu0\n',
    'cpu0 1 2 3\ncpu1 x 0 0 0\n',
    'cpu0 NaN 1 1 1\n',
  ]) {
    const { state, pass, watch, write } = machine(t);
    Object.assign(state, { burners: 4, tasks: 1 });
    const said = repeat(3, () => {
      pass(250);
      write('proc/stat', text);
      return watch.allowed();
    });
    assert.deepEqual(said, [unlimited, unlimited, unlimited], text);
    // Now they do, and the next ones can be compared with them.
    pass(250);
    assert.equal(watch.allowed(), 2);
    pass(250);
    assert.equal(watch.allowed(), 1);
  }
});

test('counters that go back limit nothing', (t) => {
  const { state, pass, watch, write } = machine(t);
  state.tasks = 1;
  pass(250);
  write('proc/stat', 'cpu0 1 0 0 0\ncpu1 1 0 0 0\n');
  assert.equal(watch.allowed(), 2);
});

test('without files of the kernel it has no fault, and own tasks limit nothing', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'millrace-cores-'));
  t.after(() => rmSync(root, { recursive: true }));
  let nowMs = 0;
  const usage = () => ({ processMs: nowMs * 4096, wantedMs: nowMs });
  const watch = new IdleCores({ root, clock: () => nowMs, usage });
  const said = repeat(3, () => {
    nowMs += 250;
    return watch.allowed();
  });
  assert.ok(
    said.every((allowed) => allowed >= availableParallelism()),
    `${said}`,
  );
});

test('subtracts the CPU time of this process, and that of its other threads', async (t) => {
  const before = ownUse();
  assert.ok(before.processMs > 0 && before.wantedMs >= 0);
  while (ownUse().processMs === before.processMs);
  const pool = open(t);
  await pool.run(50, { name: 'spin' });
  assert.ok(ownUse().wantedMs > before.wantedMs);
});

/** A program that computes until it is told to end, or the test has ended without that. */
const burner = 'const parent = process.ppid; while (process.ppid === parent);';

test('beside real programs that compute: fewer tasks at a time, and all of them end', {
  timeout: 600_000,
}, async (t) => {
  const cores = availableParallelism();
  let least = unlimited;
  const pool = open(t, { maxThreads: 2 * cores, idleCores: true });
  pool.on('allocation', ({ coreLimit }) => {
    least = Math.min(least, coreLimit ?? unlimited);
  });
  const burners = repeat(2 * cores, () => spawn(process.execPath, ['-e', burner]));
  const kill = () => {
    for (const each of burners) each.kill('SIGKILL');
  };
  t.after(kill);
  await Promise.all(burners.map((each) => new Promise((resolve) => each.once('spawn', resolve))));
  let done = 0;
  let stop = false;
  const call = async () => {
    while (!stop) {
      await pool.run(20, { name: 'spin' });
      done++;
    }
  };
  const calls = repeat(2 * cores, call);
  await until(() => least < Math.max(2, cores));
  kill();
  stop = true;
  await Promise.all(calls);
  assert.ok(done > 0);
  assert.equal(pool.stats().failed, 0);
  // Nothing runs: it ends by itself.
  await until(() => pool.stats().coreLimit === null);
});
