/** Limits of control groups: parsers, and folder trees as machines and containers have them. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { CoreWatch } from '@millrace/base/limits/cores';
import {
  cpuGroup,
  groupFolders,
  parseCpuList,
  parseMemberships,
  parseMounts,
} from '@millrace/base/limits/kernel';
import { limitsOf, systemMemory } from '@millrace/base/limits/limits';

const gibi = 1024 ** 3;

/** A machine with 8 CPUs and 16 GiB, and what `files` adds to it. */
function tree(t, files) {
  const root = mkdtempSync(join(tmpdir(), 'millrace-cgroup-'));
  t.after(() => rmSync(root, { recursive: true }));
  const all = {
    'proc/self/status': 'Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n',
    'proc/meminfo': 'MemTotal:       16777216 kB\nMemFree: 1 kB\nMemAvailable:   12582912 kB\n',
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    if (text === null) continue;
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const v2Mount = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
const v2 = (path) => ({ 'proc/self/cgroup': `0::${path}\n`, 'proc/self/mountinfo': v2Mount });
const at = (folder, files) =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [join('sys/fs/cgroup', folder, name), text]),
  );

const v1Mounts = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`;
const v1 = (path) => ({
  'proc/self/cgroup': `9:name=systemd:/init\n4:memory:${path}\n2:cpu,cpuacct:${path}\n0::/init\n`,
  'proc/self/mountinfo': v1Mounts,
});

test('no control groups: affinity and physical memory', (t) => {
  assert.deepEqual(limitsOf(tree(t, {})), {
    cpus: 8,
    cpuSource: 'affinity',
    affinity: 8,
    cpuQuota: null,
    memoryBytes: 16 * gibi,
    memorySource: 'physical',
    memoryUsedBytes: null,
  });
});

test('no files of the kernel at all: what node:os says', (t) => {
  const root = tree(t, { 'proc/self/status': null, 'proc/meminfo': null });
  const { cpus, affinity, memoryBytes } = limitsOf(root);
  assert.equal(cpus, availableParallelism());
  assert.equal(affinity, availableParallelism());
  assert.equal(memoryBytes, totalmem());
});

test('affinity', (t) => {
  const root = tree(t, { 'proc/self/status': 'Cpus_allowed_list:\t1,3-4\n' });
  assert.equal(limitsOf(root).cpus, 3);
  assert.equal(limitsOf(root).cpuSource, 'affinity');
});

test('version 2: a quota, and a memory limit', (t) => {
  const files = { 'cpu.max': '150000 100000\n', 'memory.max': '536870912\n' };
  const root = tree(t, {
    ...v2('/app.slice/app.service'),
    ...at('app.slice/app.service', { ...files, 'memory.current': '104857600\n' }),
  });
  assert.deepEqual(limitsOf(root), {
    cpus: 1.5,
    cpuSource: 'cgroup',
    affinity: 8,
    cpuQuota: 1.5,
    memoryBytes: 536_870_912,
    memorySource: 'cgroup',
    memoryUsedBytes: 104_857_600,
  });
});

test('version 2: "max" is no limit', (t) => {
  const files = { 'cpu.max': 'max 100000\n', 'memory.max': 'max\n', 'memory.current': '4096\n' };
  const root = tree(t, { ...v2('/a'), ...at('a', files) });
  const { cpus, cpuQuota, memorySource, memoryUsedBytes } = limitsOf(root);
  assert.deepEqual([cpus, cpuQuota, memorySource, memoryUsedBytes], [8, null, 'physical', 4096]);
});

test('version 2: the least of the groups above counts, whichever has it', (t) => {
  const root = tree(t, {
    ...v2('/kubepods/pod1/box'),
    ...at('.', { 'cpu.max': '700000 100000\n' }),
    ...at('kubepods', { 'cpu.max': '400000 100000\n', 'memory.max': `${8 * gibi}\n` }),
    ...at('kubepods/pod1', {
      'cpu.max': '25000 50000\n',
      'memory.max': `${4 * gibi}\n`,
      'memory.current': `${3 * gibi}\n`,
    }),
    ...at('kubepods/pod1/box', {
      'cpu.max': '200000 100000\n',
      'memory.max': `${6 * gibi}\n`,
      'memory.current': '4096\n',
    }),
  });
  const limits = limitsOf(root);
  assert.equal(limits.cpus, 0.5);
  assert.equal(limits.memoryBytes, 4 * gibi);
  assert.equal(limits.memoryUsedBytes, 3 * gibi);
});

test('version 2: a limit at the root of the mount is found from below', (t) => {
  const root = tree(t, {
    ...v2('/a/b/c'),
    ...at('.', { 'cpu.max': '300000 100000\n' }),
    ...at('a/b/c', { 'cpu.max': 'max 100000\n' }),
  });
  assert.equal(limitsOf(root).cpus, 3);
});

test('a quota above the affinity, or a limit above the memory, is none', (t) => {
  const files = { 'cpu.max': '900000 100000\n', 'memory.max': `${64 * gibi}\n` };
  const { cpus, cpuSource, cpuQuota, memorySource } = limitsOf(
    tree(t, { ...v2('/a'), ...at('a', files) }),
  );
  assert.deepEqual([cpus, cpuSource, cpuQuota, memorySource], [8, 'affinity', 9, 'physical']);
});

test('version 1: quotas, also of a group above; -1 is none', (t) => {
  const root = tree(t, {
    ...v1('/docker/box'),
    ...at('cpu,cpuacct/docker', {
      'cpu.cfs_quota_us': '250000\n',
      'cpu.cfs_period_us': '100000\n',
    }),
    ...at('cpu,cpuacct/docker/box', {
      'cpu.cfs_quota_us': '-1\n',
      'cpu.cfs_period_us': '100000\n',
    }),
    ...at('memory/docker', { 'memory.limit_in_bytes': '9223372036854771712\n' }),
    ...at('memory/docker/box', {
      'memory.limit_in_bytes': `${2 * gibi}\n`,
      'memory.usage_in_bytes': `${gibi}\n`,
    }),
  });
  const { cpus, memoryBytes, memorySource, memoryUsedBytes } = limitsOf(root);
  assert.deepEqual(
    [cpus, memoryBytes, memorySource, memoryUsedBytes],
    [2.5, 2 * gibi, 'cgroup', gibi],
  );
});

test('both versions mounted: limits of each are found', (t) => {
  const root = tree(t, {
    ...v1('/box'),
    ...at('cpu,cpuacct/box', { 'cpu.cfs_quota_us': '200000\n', 'cpu.cfs_period_us': '100000\n' }),
    ...at('unified/init', { 'memory.max': `${gibi}\n`, 'memory.current': '0\n' }),
  });
  const { cpus, memoryBytes, memoryUsedBytes } = limitsOf(root);
  assert.deepEqual([cpus, memoryBytes, memoryUsedBytes], [2, gibi, 0]);
});

test('a container that sees its group as the root of the mount', (t) => {
  const root = tree(t, {
    'proc/self/cgroup': '2:cpu,cpuacct:/docker/abc\n',
    'proc/self/mountinfo':
      '36 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n',
    ...at('cpu', { 'cpu.cfs_quota_us': '50000\n', 'cpu.cfs_period_us': '100000\n' }),
  });
  assert.equal(limitsOf(root).cpus, 0.5);
});

test('a container whose group is not in its mount: what is mounted counts', (t) => {
  const root = tree(t, {
    ...v2('/../../user.slice'),
    ...at('.', { 'cpu.max': '100000 100000\n' }),
    // Of the same name, and another one.
    ...at('user.slice', { 'cpu.max': '10000 100000\n' }),
  });
  assert.equal(limitsOf(root).cpus, 1);
});

test('a mount of another group binds nothing, whichever comes first', (t) => {
  const other = '40 23 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n';
  const files = (mounts) => ({
    'proc/self/cgroup': '0::/a/b\n',
    'proc/self/mountinfo': mounts,
    'mnt/other/cpu.max': '10000 100000\n',
    'mnt/other/memory.max': `${gibi}\n`,
  });
  for (const mounts of [other, `${other}${other}`, other.replace('/other', '/a/b/c')]) {
    const { cpuQuota, memorySource } = limitsOf(tree(t, files(mounts)));
    assert.deepEqual([cpuQuota, memorySource], [null, 'physical']);
  }
});

test('a container that sees its mount from another namespace: what is mounted counts', (t) => {
  const quota = { 'cpu.max': '100000 100000\n' };
  for (const [path, root] of [
    ['/', '/../..'],
    ['/', '/docker/box'],
    ['/a', '/..'],
  ]) {
    const mount = v2Mount.replace(' / /sys', ` ${root} /sys`);
    const files = { ...v2(path), 'proc/self/mountinfo': mount, ...at('.', quota) };
    assert.equal(limitsOf(tree(t, files)).cpus, 1, `${path} in ${root}`);
  }
});

test('a group whose name begins with two dots is one', (t) => {
  const quota = { 'cpu.max': '100000 100000\n' };
  assert.equal(limitsOf(tree(t, { ...v2('/..x'), ...at('..x', quota) })).cpus, 1);
  assert.equal(limitsOf(tree(t, { ...v2('/a/..x/b'), ...at('a/..x', quota) })).cpus, 1);
});

test('a memory limit of 0 is one', (t) => {
  const root = tree(t, {
    ...v2('/a'),
    ...at('a', { 'memory.max': '0\n', 'memory.current': '4096\n' }),
  });
  const { memoryBytes, memorySource, memoryUsedBytes } = limitsOf(root);
  assert.deepEqual([memoryBytes, memorySource, memoryUsedBytes], [0, 'cgroup', 4096]);
  const { totalBytes, availableBytes, usedBytes } = systemMemory(root);
  assert.deepEqual([totalBytes, availableBytes, usedBytes], [0, 0, 0]);
});

test('of two mounts the one in which the group can be seen', (t) => {
  const root = tree(t, {
    'proc/self/cgroup': '0::/a/b\n',
    'proc/self/mountinfo': `40 23 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n${v2Mount}`,
    ...at('a/b', { 'cpu.max': '100000 100000\n' }),
    'mnt/other/cpu.max': '700000 100000\n',
  });
  assert.equal(limitsOf(root).cpus, 1);
});

test('files that say nothing of use limit nothing', (t) => {
  for (const text of ['', '\n', 'max', '0 100000', '-1 100000', 'x y', '100000 0', '100000']) {
    const root = tree(t, { ...v2('/a'), ...at('a', { 'cpu.max': text, 'memory.max': text }) });
    const { cpuQuota, memorySource } = limitsOf(root);
    assert.deepEqual([cpuQuota, memorySource === 'physical' || text === '100000'], [null, true]);
  }
});

test('paths with blanks, colons and controllers with names', () => {
  assert.deepEqual(parseMemberships('1:name=systemd:/a:b c\n0::/x\nnonsense\n'), [
    { controllers: ['name=systemd'], path: '/a:b c' },
    { controllers: [], path: '/x' },
  ]);
  const line = '30 23 0:26 /my\\040group /mnt/c\\040g rw shared:1 master:2 - cgroup2 none rw\nx\n';
  assert.deepEqual(parseMounts(line), [
    { version: 2, root: '/my group', mountPoint: '/mnt/c g', options: ['rw'] },
  ]);
});

test('folders of a group, from it to the root of the mount', () => {
  const mount = { version: 2, root: '/', mountPoint: '/sys/fs/cgroup', options: [] };
  const base = '/sys/fs/cgroup';
  assert.deepEqual(groupFolders(mount, '/a/b'), [`${base}/a/b`, `${base}/a`, base]);
  assert.deepEqual(groupFolders(mount, '/'), [base]);
  assert.deepEqual(groupFolders({ ...mount, root: '/a' }, '/a/b'), [`${base}/b`, base]);
  assert.deepEqual(groupFolders({ ...mount, root: '/a' }, '/ab'), []);
});

test('lists of CPUs', () => {
  assert.deepEqual(parseCpuList('0-2,5,7-8\n'), [0, 1, 2, 5, 7, 8]);
  assert.deepEqual(parseCpuList('3'), [3]);
  for (const text of ['', 'a', '1-', '1,,2']) assert.equal(parseCpuList(text), null);
});

test('available memory: the least that is left, where old file cache counts as left', (t) => {
  const root = tree(t, {
    ...v2('/pod/box'),
    ...at('pod', {
      'memory.max': `${4 * gibi}\n`,
      'memory.current': `${3 * gibi}\n`,
      'memory.stat': `anon 1\ninactive_file ${gibi}\nactive_file 5\n`,
    }),
    ...at('pod/box', { 'memory.max': `${2 * gibi}\n`, 'memory.current': `${0.5 * gibi}\n` }),
  });
  const { totalBytes, availableBytes, usedBytes } = systemMemory(root);
  assert.deepEqual(
    [totalBytes, availableBytes, usedBytes],
    [2, 1.5, 0.5].map((n) => n * gibi),
  );
});

test('available memory: that of the group above, of the machine', (t) => {
  const pod = { 'memory.max': `${4 * gibi}\n`, 'memory.current': `${3.5 * gibi}\n` };
  const box = { 'memory.max': `${2 * gibi}\n`, 'memory.current': '0\n' };
  const root = tree(t, { ...v2('/pod/box'), ...at('pod', pod), ...at('pod/box', box) });
  assert.equal(systemMemory(root).availableBytes, 0.5 * gibi);
  assert.equal(systemMemory(root).totalBytes, 2 * gibi);
  assert.equal(systemMemory(tree(t, {})).availableBytes, 12 * gibi);
  const scarce = { 'proc/meminfo': 'MemTotal: 16777216 kB\nMemAvailable: 1048576 kB\n' };
  const full = tree(t, { ...v2('/box'), ...at('box', box), ...scarce });
  assert.equal(systemMemory(full).availableBytes, gibi);
});

test('CPU time of the group whose quota counts', (t) => {
  const second = tree(t, {
    ...v2('/pod/box'),
    ...at('pod', { 'cpu.max': '100000 100000\n', 'cpu.stat': 'usage_usec 2500000\nuser_usec 1\n' }),
    ...at('pod/box', { 'cpu.max': '200000 100000\n', 'cpu.stat': 'usage_usec 7\n' }),
  });
  assert.deepEqual(cpuGroup(second), { quota: 1, usedMs: 2500 });
  const quota = { 'cpu.cfs_quota_us': '100000\n', 'cpu.cfs_period_us': '100000\n' };
  const first = tree(t, {
    ...v1('/pod/box'),
    ...at('cpu,cpuacct/pod', { ...quota, 'cpuacct.usage': '2500000000\n' }),
    ...at('cpu,cpuacct/pod/box', { 'cpuacct.usage': '7\n' }),
  });
  assert.deepEqual(cpuGroup(first), { quota: 1, usedMs: 2500 });
  assert.deepEqual(cpuGroup(tree(t, {})), { quota: null, usedMs: null });
});

test('CPU time where it is counted in a mount of its own', (t) => {
  const root = tree(t, {
    'proc/self/cgroup': '3:cpuacct:/box\n2:cpu:/box\n',
    'proc/self/mountinfo': `32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n`,
    ...at('cpu/box', { 'cpu.cfs_quota_us': '50000\n', 'cpu.cfs_period_us': '100000\n' }),
    ...at('cpuacct/box', { 'cpuacct.usage': '9000000\n' }),
  });
  assert.deepEqual(cpuGroup(root), { quota: 0.5, usedMs: 9 });
});

/** A clock for a watch; `pass(ms)` moves it on. */
function clock() {
  let nowMs = 1000;
  const pass = (ms) => {
    nowMs += ms;
  };
  return { now: () => nowMs, pass };
}

/** Cores with so many idle ticks each, of a thousand since the machine started. */
const stat = (...idle) =>
  `${idle.map((ticks, cpu) => `cpu${cpu} ${1000 - ticks} 0 0 ${ticks}`).join('\n')}\n`;

test('idle cores are judged over the time between two looks, as far as the quota leaves', (t) => {
  const files = (ticks, usage) => ({
    ...v2('/box'),
    'proc/stat': ticks,
    ...at('box', { 'cpu.max': '300000 100000\n', 'cpu.stat': `usage_usec ${usage}\n` }),
  });
  const root = tree(t, files(stat(0, 0, 0, 0), 0));
  const { now, pass } = clock();
  const cores = new CoreWatch(root, now);
  const write = (changed) => {
    for (const [path, text] of Object.entries(changed)) writeFileSync(join(root, path), text);
  };
  // All of them were idle since, but the group has used 2.95 of its 3 CPUs.
  pass(600);
  write(files(stat(0, 0, 0, 0).replaceAll(/0$/gm, '100'), 2.95 * 600_000));
  const { count, idle, busy, quotaUsed, intervalMs, each } = cores.read(0.1);
  assert.deepEqual(
    { count, idle, busy, quotaUsed, intervalMs },
    {
      ...{ count: 3, idle: 0, busy: 3, quotaUsed: 2.95, intervalMs: 600 },
    },
  );
  assert.deepEqual(
    each.map(({ idleShare }) => idleShare),
    [1, 1, 1, 1],
  );
});

test('the first report is about the time since the watch was made, not since the machine started', (t) => {
  const root = tree(t, { 'proc/stat': 'cpu0 0 0 0 9000\ncpu1 9000 0 0 0\n' });
  const { now, pass } = clock();
  const cores = new CoreWatch(root, now);
  const report = (text, ms) => {
    writeFileSync(join(root, 'proc/stat'), text);
    pass(ms);
    const { each, intervalMs } = cores.read(0.1);
    return [...each.map(({ idleShare }) => idleShare), intervalMs];
  };
  // As short as it is, until there is more; then over half a second at least, and no longer than there are reports.
  assert.deepEqual(report('cpu0 10 0 0 9000\ncpu1 9000 0 0 10\n', 100), [0, 1, 100]);
  assert.deepEqual(report('cpu0 10 0 0 9030\ncpu1 9030 0 0 10\n', 300), [0.75, 0.25, 400]);
  assert.deepEqual(report('cpu0 10 0 0 9090\ncpu1 9090 0 0 10\n', 600), [0.9, 0.1, 1000]);
  assert.deepEqual(report('cpu0 30 0 0 9120\ncpu1 9120 0 0 30\n', 100), [0.8, 0.2, 1100]);
  assert.deepEqual(report('cpu0 130 0 0 9120\ncpu1 9120 0 0 130\n', 500), [0.2, 0.8, 600]);
});

test('a core that has not ticked is idle; a file that says nothing of use leaves what the affinity says', (t) => {
  const root = tree(t, { 'proc/stat': stat(0, 0) });
  const cores = new CoreWatch(root, clock().now);
  const { count, idle, intervalMs } = cores.read(0.1);
  assert.deepEqual([count, idle, intervalMs], [2, 2, 0]);
  for (const text of ['', 'nonsense', 'cpu0\n', 'cpu0 1 2\ncpu1 x 0 0 0\n']) {
    writeFileSync(join(root, 'proc/stat'), text);
    const { count, idle, each } = new CoreWatch(root, clock().now).read(0.1);
    assert.deepEqual([count, idle, each], [8, 8, []], text);
  }
});

test('a core is idle above the threshold, not at it', (t) => {
  const root = tree(t, { 'proc/stat': 'cpu0 0 0 0 0\ncpu1 0 0 0 0\ncpu9 0 0 0 0\n' });
  const { now, pass } = clock();
  const cores = new CoreWatch(root, now);
  writeFileSync(join(root, 'proc/stat'), 'cpu0 0 0 0 100\ncpu1 50 0 0 50\ncpu9 0 0 0 5\n');
  pass(1);
  const idle = (threshold) => cores.read(threshold).idle;
  assert.deepEqual([idle(1), idle(0.99), idle(0.5), idle(0.4)], [0, 1, 1, 2]);
});
