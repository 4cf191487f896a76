/**
 * Checks of what the machine and the container leave to a process: CPUs, memory, cgroup, open files, threads of libuv, connections that
 * wait to be accepted, and whether perf may count system calls. All but the last read files below the root of the place. A limit is
 * compared with what Node.js or libuv assumes about it; the fix raises it, or tells Node.js the truth.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { hierarchies, readText } from '@millrace/base/limits/kernel';
import { limitsOf } from '@millrace/base/limits/limits';
import { note, ok, onLinux, type Place, warning } from './report.js';

/** A connection is an open file. */
const FILES = 65_536;
const FEW_FILES = 4096;

/** Default of `server.listen()`. */
const BACKLOG = 511;

/** Defaults of libuv. */
const THREADS = 4;
const MOST_THREADS = 1024;

/** The event that @millrace/lab counts. */
const EVENT = 'raw_syscalls:sys_enter';

const mib = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;

export const cgroup = onLinux(({ root }) => {
  const versions = ['cpu', 'memory']
    .flatMap((controller) => hierarchies(root, controller))
    .map(({ version }) => version);
  if (versions.length === 0) return ok('none that can be seen');
  const { cpuQuota, memorySource, memoryBytes } = limitsOf(root);
  const cpu = cpuQuota === null ? 'no CPU quota' : `CPU quota ${cpuQuota}`;
  const memory = memorySource === 'cgroup' ? `memory limit ${mib(memoryBytes)}` : 'no memory limit';
  return ok(`version ${[...new Set(versions)].join(' and ')}, ${cpu}, ${memory}`);
});

/** @param seen CPUs as Node.js counts them */
export function cpus({ root, platform }: Place, seen = availableParallelism()) {
  const { cpus: usable, affinity, cpuSource } = limitsOf(root);
  const affine = platform === 'linux' ? 'by affinity' : 'as Node.js counts them';
  const by = cpuSource === 'cgroup' ? `by the quota; ${affinity} by affinity` : affine;
  const found = `${usable} ${by}`;
  if (seen > Math.ceil(usable)) {
    const means = `os.availableParallelism() says ${seen}: what starts a thread or process for each starts too many; Millrace counts the quota`;
    return note(found, means);
  }
  if (usable > 1) return ok(found);
  return note(
    found,
    'threads and processes (@millrace/pool, @millrace/cluster) do not make it quicker',
  );
}

/** @param heapBytes that V8 lets the heap grow to */
export function memory({ root }: Place, heapBytes = getHeapStatistics().heap_size_limit) {
  const { memoryBytes, memorySource } = limitsOf(root);
  const of = memorySource === 'cgroup' ? 'of the cgroup' : 'of the machine';
  const found = `${mib(memoryBytes)} ${of}, heap up to ${mib(heapBytes)}`;
  if (heapBytes < memoryBytes) return ok(found);
  const fix = `node --max-old-space-size=${Math.floor((memoryBytes * 0.75) / 1024 ** 2)}`;
  return warning(found, 'the kernel ends the process before V8 knows that memory is short', fix);
}

export const openFiles = onLinux(({ root }) => {
  const text = readText(root, 'proc/self/limits') ?? '';
  const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(text) ?? [];
  if (soft === undefined || hard === undefined) return ok('not known: no /proc');
  const found = `soft ${soft}, hard ${hard} (Node.js raises the soft limit when it starts)`;
  const most = hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
  if (most >= FILES) return ok(found);
  return (most < FEW_FILES ? warning : note)(
    found,
    `a process has at most ${hard} connections and files; ${FILES} are recommended for many connections`,
    `ulimit -n ${FILES}, LimitNOFILE=${FILES} of a systemd unit, --ulimit nofile=${FILES} of a container`,
  );
});

export function threadPool({ root, env: { UV_THREADPOOL_SIZE: setting } }: Place) {
  const cpus = Math.ceil(limitsOf(root).cpus);
  const threads = setting === undefined ? THREADS : Number(setting);
  const found = `${setting ?? THREADS} threads (UV_THREADPOOL_SIZE${setting === undefined ? ' not set' : ''}), CPUs: ${cpus}`;
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS)) {
    const means = 'libuv uses 1 thread if the value is not a number, and at most 1024';
    return warning(found, means, `UV_THREADPOOL_SIZE=${Math.max(THREADS, cpus)}`);
  }
  if (threads >= Math.min(cpus, MOST_THREADS)) return ok(found);
  const means = 'files, DNS lookups, zlib and crypto wait for a thread while CPUs may be idle';
  return note(found, means, `UV_THREADPOOL_SIZE=${cpus}`);
}

export const backlog = onLinux(({ root }) => {
  const text = readText(root, 'proc/sys/net/core/somaxconn');
  if (text === null) return ok('not known: no net.core.somaxconn');
  const most = Number(text);
  const found = `net.core.somaxconn ${most}, Node.js asks for ${BACKLOG} unless listen() says otherwise`;
  if (most >= BACKLOG) return ok(found);
  const means = `a burst of more than ${most} connections is refused or waits a second for another try`;
  return note(found, means, 'sysctl net.core.somaxconn=4096, as root');
});

/** Reports whether perf can count system calls: by counting those of a small program. */
export const perf = onLinux(({ root, env }) => {
  const args = ['stat', '-x', ',', '-e', EVENT, '--', process.execPath, '--version'];
  const { error, stderr } = spawnSync('perf', args, { env, encoding: 'utf8', timeout: 10_000 });
  const means = 'optional: without it millrace compare does not count system calls';
  if (error !== undefined) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const found = isAbsent ? 'not installed' : `does not run: ${error.message}`;
    return note(found, means, 'install perf (Debian: linux-perf)');
  }
  if (new RegExp(`^\\d+,.*${EVENT}`, 'm').test(stderr)) return ok('counts system calls');
  const paranoid = readText(root, 'proc/sys/kernel/perf_event_paranoid')?.trim() ?? 'not known';
  return note(
    `may not count system calls, kernel.perf_event_paranoid ${paranoid}`,
    means,
    'sysctl kernel.perf_event_paranoid=-1 and a readable /sys/kernel/tracing, as root',
  );
});
