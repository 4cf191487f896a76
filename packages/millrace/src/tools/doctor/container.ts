/** What the machine and the container leave to a process. */
import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { hierarchies } from '@millrace/base/limits/cgroup';
import { limitsOf } from '@millrace/base/limits/limits';
import { type Finding, ok, onlyLinux, type Place } from './finding.js';

const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

export function cgroup(place: Place): Finding {
  const name = 'cgroup';
  const elsewhere = onlyLinux(name, place);
  if (elsewhere !== null) return elsewhere;
  const versions = ['cpu', 'memory']
    .flatMap((controller) => hierarchies(place.root, controller))
    .map(({ version }) => version);
  if (versions.length === 0) return ok(name, 'none that can be seen');
  const { cpuQuota, memorySource, memoryBytes } = limitsOf(place.root);
  const cpu = cpuQuota === null ? 'no CPU quota' : `CPU quota ${cpuQuota}`;
  const memory = memorySource === 'cgroup' ? `memory limit ${mib(memoryBytes)}` : 'no memory limit';
  return ok(name, `version ${[...new Set(versions)].join(' and ')}, ${cpu}, ${memory}`);
}

/** @param seen CPUs as Node.js counts them */
export function cpus({ root, platform }: Place, seen = availableParallelism()): Finding {
  const name = 'CPUs';
  const { cpus: usable, affinity, cpuSource } = limitsOf(root);
  const affine = platform === 'linux' ? 'by affinity' : 'as Node.js counts them';
  const by = cpuSource === 'cgroup' ? `by the quota; ${affinity} by affinity` : affine;
  const found = `${usable} ${by}`;
  if (seen > Math.ceil(usable)) {
    const means = `os.availableParallelism() says ${seen}: what starts a thread or process for each starts too many; Millrace counts the quota`;
    return { name, state: 'note', found, means, fix: null };
  }
  if (usable > 1) return ok(name, found);
  const means = 'threads and processes (@millrace/pool, @millrace/cluster) do not make it quicker';
  return { name, state: 'note', found, means, fix: null };
}

/** @param heapBytes that V8 lets the heap grow to */
export function memory({ root }: Place, heapBytes = getHeapStatistics().heap_size_limit): Finding {
  const name = 'memory';
  const { memoryBytes, memorySource } = limitsOf(root);
  const of = memorySource === 'cgroup' ? 'of the cgroup' : 'of the machine';
  const found = `${mib(memoryBytes)} ${of}, heap up to ${mib(heapBytes)}`;
  if (heapBytes < memoryBytes) return ok(name, found);
  return {
    name,
    state: 'warning',
    found,
    means: 'the kernel ends the process before V8 knows that memory is short',
    fix: `node --max-old-space-size=${Math.floor((memoryBytes * 0.75) / 1024 ** 2)}`,
  };
}
