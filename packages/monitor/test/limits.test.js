/** Limits of this machine, and of a control group on it where one can be made. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { limits, memoryUsage } from '@millrace/monitor';
import { result } from './run.js';

const script = `
  import { limits, monitor } from '@millrace/monitor';
  const { cpu, memory } = monitor().health();
  console.log(JSON.stringify({ ...limits(), health: { cpu, memory } }));`;

test('limits of this process', () => {
  const { cpus, affinity, cpuQuota, memoryBytes } = limits();
  assert.ok(Number.isInteger(affinity) && affinity >= 1);
  assert.equal(cpus, Math.min(affinity, cpuQuota ?? affinity));
  assert.ok(memoryBytes > 0 && memoryBytes <= totalmem());
});

test('memory of this process', () => {
  const { rss, heapUsed, heapTotal, heapLimit, limit } = memoryUsage();
  assert.ok(heapUsed > 0 && heapUsed <= heapTotal && heapTotal <= rss, `${heapUsed} ${heapTotal}`);
  assert.ok(heapLimit > heapUsed);
  assert.equal(limit, limits().memoryBytes);
});

const canPin = spawnSync('taskset', ['-c', '0', 'true']).status === 0;
if (canPin) {
  test('affinity that taskset has set', async () => {
    const { cpus, cpuSource, affinity, health } = await result(script, {
      command: ['taskset', '-c', '0'],
    });
    assert.deepEqual([cpus, cpuSource, affinity], [1, 'affinity', 1]);
    assert.equal(health.cpu.cores.count, 1);
    assert.deepEqual(
      health.cpu.cores.each.map(({ cpu }) => cpu),
      [0],
    );
  });
}

/** Two groups that were made, the inner one first, of which the outer one has the files; null where none can be made. */
function groupOf(controller, files) {
  try {
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    for (const [version, type] of Object.entries({ v1: 'cgroup', v2: 'cgroup2' })) {
      const line = mounts.find((each) => {
        const [, after = ''] = each.split(' - ');
        const [kind, , options = ''] = after.split(' ');
        return kind === type && (version === 'v2' || options.split(',').includes(controller));
      });
      const mountPoint = line?.split(' ')[4];
      if (mountPoint === undefined) continue;
      const outer = join(mountPoint, `millrace-test-${process.pid}`);
      const made = [];
      try {
        mkdirSync(outer);
        made.unshift(outer);
        for (const [name, text] of Object.entries(files[version])) {
          writeFileSync(join(outer, name), text);
        }
        mkdirSync(join(outer, 'inner'));
        made.unshift(join(outer, 'inner'));
        process.on('exit', () => remove(made));
        return made;
      } catch {
        remove(made);
      }
    }
  } catch {
    // Not Linux, or not allowed.
  }
  return null;
}

function remove(folders) {
  for (const folder of folders) rmdirSync(folder);
}

/** Runs the script in the inner group. */
const inGroup = ([inner]) =>
  result(script, {
    command: ['/bin/sh', '-c', `echo $$ > '${inner}/cgroup.procs' && exec "$0" "$@"`],
  });

const cpuGroups = groupOf('cpu', {
  v1: { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '50000' },
  v2: { 'cpu.max': '50000 100000' },
});
if (cpuGroups !== null) {
  test('a quota of the group above, in a real control group', async () => {
    const { cpus, cpuSource, cpuQuota, health } = await inGroup(cpuGroups);
    assert.deepEqual([cpus, cpuSource, cpuQuota], [0.5, 'cgroup', 0.5]);
    assert.equal(health.cpu.limit, 0.5);
    assert.equal(health.cpu.cores.count, 1);
  });
}

const bytes = 512 * 1024 * 1024;
const memoryGroups = groupOf('memory', {
  // Groups below it count in it, which is how a container's are.
  v1: { 'memory.limit_in_bytes': String(bytes), 'memory.use_hierarchy': '1' },
  v2: { 'memory.max': String(bytes) },
});
if (memoryGroups !== null) {
  test('a memory limit of the group above, in a real control group', async () => {
    const { memoryBytes, memorySource, memoryUsedBytes, health } = await inGroup(memoryGroups);
    assert.deepEqual([memoryBytes, memorySource], [bytes, 'cgroup']);
    assert.ok(memoryUsedBytes > 0 && memoryUsedBytes <= bytes);
    const { totalBytes, availableBytes, source, process } = health.memory;
    assert.deepEqual([totalBytes, source, process.limit], [bytes, 'cgroup', bytes]);
    assert.ok(availableBytes > 0 && availableBytes < bytes);
  });
}
