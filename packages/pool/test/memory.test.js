/** Whether a worker has room, and whether memory is short: by numbers, and in folder trees as containers have them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { limits } from '@millrace/monitor';
import { hasRoom, MemoryWatch, memoryIsShort, workerBytes } from '../dist/memory.js';

const mebi = 2 ** 20;

test('bytes of a worker: its limits, its stack, and 10 MiB', () => {
  const all = {
    maxOldGenerationSizeMb: 100,
    maxYoungGenerationSizeMb: 20,
    codeRangeSizeMb: 7,
    stackSizeMb: 2,
  };
  assert.equal(workerBytes(all), 139 * mebi);
  const two = { maxOldGenerationSizeMb: 0.5, maxYoungGenerationSizeMb: 1 };
  assert.equal(workerBytes(two), 15.5 * mebi);
});

test('without a limit of its heap a worker counts with what it has at the start', () => {
  assert.equal(workerBytes(), 14 * mebi);
  assert.equal(workerBytes({ stackSizeMb: 8 }), 18 * mebi);
  assert.equal(workerBytes({ maxYoungGenerationSizeMb: 32 }), 46 * mebi);
});

test('limits that are not given are those of a running worker, and not small before one runs', async (t) => {
  const said = { maxOldGenerationSizeMb: 64 };
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true, resourceLimits: said });
  t.after(() => worker.terminate());
  const before = worker.resourceLimits;
  await once(worker, 'online');
  const actual = worker.resourceLimits;
  assert.ok(actual.maxYoungGenerationSizeMb > 0);
  const exact = (64 + actual.maxYoungGenerationSizeMb + actual.stackSizeMb + 10) * mebi;
  assert.equal(workerBytes(said, actual), exact);
  assert.ok(workerBytes(said) >= exact, `${workerBytes(said)}`);
  assert.equal(workerBytes(said, { maxYoungGenerationSizeMb: 5 }), 83 * mebi);
  assert.equal(workerBytes(said, {}), workerBytes(said));
  // They may be known by now; if not, they are -1, which says nothing.
  assert.ok([workerBytes(said), exact].includes(workerBytes(said, before)));
  const unknown = { maxYoungGenerationSizeMb: -1, maxOldGenerationSizeMb: -1 };
  assert.equal(workerBytes(said, unknown), workerBytes(said));
  assert.equal(workerBytes(unknown), workerBytes());
  const both = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
  assert.equal(workerBytes(both, actual), 86 * mebi);
  assert.equal(workerBytes({}, actual), workerBytes());
});

/** A process of 60 MiB without workers, in a container of 512 MiB that has nothing else in it. */
const room = (rss, changed) => ({
  limitBytes: 512 * mebi,
  usedBytes: rss * mebi,
  rssBytes: rss * mebi,
  baseBytes: 60 * mebi,
  ...changed,
});
const has = (rss, reserved, worker, changed) =>
  hasRoom(room(rss, changed), reserved * mebi, worker * mebi);

test('the first worker always has room', () => {
  assert.equal(has(511, 0, 4096), true);
});

test('workers that use little yet are counted with all that they may grow to', () => {
  assert.equal(has(70, 300, 152), true);
  assert.equal(has(70, 300, 153), false);
});

test('memory that they use already is not counted twice', () => {
  assert.equal(has(360, 300, 152), true);
  assert.equal(has(360, 300, 153), false);
});

test('more than was reserved counts as it is', () => {
  assert.equal(has(400, 300, 112), true);
  assert.equal(has(400, 300, 113), false);
});

test('other processes of the container count', () => {
  assert.equal(has(70, 300, 52, { usedBytes: 170 * mebi }), true);
  assert.equal(has(70, 300, 53, { usedBytes: 170 * mebi }), false);
});

test('memory is short from 92 % on, and no longer below 85 %', () => {
  let isShort = false;
  const after = (share) => {
    isShort = memoryIsShort(isShort, share);
    return isShort;
  };
  assert.deepEqual([0.5, 0.919, 0.92, 0.9, 0.85, 0.849, 0.9, 1, 0.86, 0].map(after), [
    ...[false, false, true, true, true, false, false, true, true, false],
  ]);
});

test('memory is short by other shares', () => {
  const shares = { above: 0.5, below: 0.1 };
  const isShort = (was, share) => memoryIsShort(was, share, shares);
  assert.deepEqual(
    [isShort(false, 0.49), isShort(false, 0.5), isShort(true, 0.1), isShort(true, 0.09)],
    [false, true, true, false],
  );
});

/** A container with 1000 MiB, of which some are used, on a machine with 16 GiB. */
function container(t) {
  const root = mkdtempSync(join(tmpdir(), 'millrace-memory-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (files) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
  };
  write({
    'proc/self/cgroup': '0::/\n',
    'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
    'proc/meminfo': 'MemTotal: 16777216 kB\nMemAvailable: 12582912 kB\n',
    'sys/fs/cgroup/memory.max': `${1000 * mebi}\n`,
  });
  const use = (used, { idle = 0, active = 0 } = {}) =>
    write({
      'sys/fs/cgroup/memory.current': `${(used + idle + active) * mebi}\n`,
      'sys/fs/cgroup/memory.stat': `anon 1\ninactive_file ${idle * mebi}\nactive_file ${active * mebi}\n`,
    });
  use(100);
  return { root, write, use };
}

/** What the process says; changed in place. */
const processOf = () => ({ rss: 60 * mebi, heapTotal: 20 * mebi, external: 5 * mebi });

test('reports the shares of a look', (t) => {
  const { root } = container(t);
  const usage = processOf();
  const watch = new MemoryWatch({ root, usage: () => usage });
  usage.rss = 200 * mebi;
  usage.heapTotal = 50 * mebi;
  assert.deepEqual(watch.look(), {
    limitBytes: 1000 * mebi,
    usedBytes: 100 * mebi,
    rssBytes: 200 * mebi,
    // The heap of this thread has grown by 30 MiB; the rest is that of workers.
    baseBytes: 90 * mebi,
    usedShare: 0.1,
    throttled: false,
  });
});

test('memory gets short, and is not any more', (t) => {
  const { root, use } = container(t);
  let at = 0;
  const watch = new MemoryWatch({ root, usage: processOf, clock: () => at });
  const after = (used) => {
    use(used);
    at += 250;
    return watch.look().throttled;
  };
  assert.deepEqual([900, 919, 920, 900, 850, 849, 900].map(after), [
    ...[false, false, true, true, true, false, false],
  ]);
});

test('it looks again when the last look is 250 ms old', (t) => {
  const { root, use } = container(t);
  let at = 1000;
  const watch = new MemoryWatch({ root, usage: processOf, clock: () => at });
  const used = () => watch.look().usedBytes / mebi;
  assert.equal(used(), 100);
  use(200);
  at += 249;
  assert.equal(used(), 100);
  at += 1;
  assert.equal(used(), 200);
  use(300);
  at += 249;
  assert.equal(used(), 200);
});

test('file cache is not used memory: the kernel takes it back first', (t) => {
  const { root, use } = container(t);
  const used = (...given) => {
    use(...given);
    return new MemoryWatch({ root, usage: processOf }).look().usedBytes / mebi;
  };
  assert.equal(used(300, { idle: 690 }), 300);
  assert.equal(used(300, { active: 690 }), 300);
  assert.equal(used(300, { idle: 200, active: 400 }), 300);
});

test('file cache of control groups of version 1, and of a group in one that is limited', (t) => {
  const { root, write } = container(t);
  const used = () => new MemoryWatch({ root, usage: processOf }).look().usedBytes / mebi;
  const mounts = [
    '35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
  ];
  write({
    'proc/self/cgroup': '4:memory:/\n0::/\n',
    'proc/self/mountinfo': `${mounts.join('\n')}\n`,
    'sys/fs/cgroup/memory/memory.limit_in_bytes': `${1000 * mebi}\n`,
    'sys/fs/cgroup/memory/memory.usage_in_bytes': `${900 * mebi}\n`,
    'sys/fs/cgroup/memory/memory.stat': `total_inactive_file ${100 * mebi}\ntotal_active_file ${200 * mebi}\n`,
  });
  assert.equal(used(), 600);
  write({
    'proc/self/cgroup': '0::/inner\n',
    'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
    'sys/fs/cgroup/memory.current': `${900 * mebi}\n`,
    'sys/fs/cgroup/memory.stat': `inactive_file ${100 * mebi}\nactive_file ${300 * mebi}\n`,
    'sys/fs/cgroup/inner/memory.stat': `inactive_file ${100 * mebi}\nactive_file ${150 * mebi}\n`,
  });
  // Of the outer group no more is given back than is the inner one's.
  assert.equal(used(), 650);
});

test('file cache does not make more of what the machine has left', (t) => {
  const { root, write, use } = container(t);
  use(300, { active: 600 });
  write({ 'proc/meminfo': `MemTotal: 16777216 kB\nMemAvailable: ${400 * 1024} kB\n` });
  assert.equal(new MemoryWatch({ root, usage: processOf }).look().usedBytes, 600 * mebi);
});

test('a machine that is short throttles a container that is not', (t) => {
  const { root, write } = container(t);
  write({ 'proc/meminfo': 'MemTotal: 16777216 kB\nMemAvailable: 71680 kB\n' });
  const { usedBytes, throttled } = new MemoryWatch({ root, usage: processOf }).look();
  assert.equal(usedBytes, 930 * mebi);
  assert.equal(throttled, true);
});

test('without a limit the machine decides', (t) => {
  const { root, write } = container(t);
  write({ 'sys/fs/cgroup/memory.max': 'max\n' });
  const { limitBytes, usedShare } = new MemoryWatch({ root, usage: processOf }).look();
  assert.equal(limitBytes, 16 * 1024 * mebi);
  assert.equal(usedShare, 0.25);
});

test('workers are admitted while there is room, and none but the first while memory is short', (t) => {
  const { root, use } = container(t);
  let at = 0;
  const watch = new MemoryWatch({ root, usage: processOf, clock: () => at });
  const size = 200 * mebi;
  const admitted = () => {
    let workers = 0;
    while (watch.admits(workers * size, size)) workers++;
    return workers;
  };
  assert.equal(admitted(), 4);
  use(500);
  at += 250;
  assert.equal(admitted(), 2);
  use(930);
  at += 250;
  assert.equal(admitted(), 1);
  assert.equal(watch.admits(1 * mebi, 1 * mebi), false);
});

test('this process', () => {
  const watch = new MemoryWatch();
  const { limitBytes, usedBytes, rssBytes, baseBytes, usedShare } = watch.look();
  assert.equal(limitBytes, limits().memoryBytes);
  assert.ok(usedBytes > 0 && usedBytes <= limitBytes);
  assert.equal(usedShare, usedBytes / limitBytes);
  assert.ok(baseBytes > 0 && baseBytes <= rssBytes + 64 * mebi, `${baseBytes} of ${rssBytes}`);
});
