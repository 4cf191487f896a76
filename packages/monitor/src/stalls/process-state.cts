/**
 * State of a thread in Linux's /proc, read from another thread: `schedstat` has its time on a CPU and its time in the queue for one,
 * `syscall` the system call in which it sleeps. Both are small files, kept open and read again from their beginning; a reading
 * takes some 10 µs and does not disturb the thread.
 *
 * A loop is idle when its thread sleeps in epoll_wait on the loop's own descriptor. That descriptor has to be learned, as execSync sleeps in
 * a loop of its own. A thread that sleeps on a descriptor and answers a heartbeat meanwhile sleeps in its main loop; a descriptor seen so
 * twice in a row is the loop's. A wrong guess, by two short calls of execSync, ends with the next two right ones.
 */
import { builtin } from '@millrace/base/realm';
import { timesOf } from './sampler.cjs';
import type { StallState, ThreadTimes } from './stall.cjs';

const { closeSync, openSync, readSync } = builtin('node:fs');
const { arch } = process;

/** System call in which a thread sleeps. */
interface SystemCall {
  readonly name: string;
  readonly fd: number;
}

/** Numbers of system calls that can take long, on x64 and arm64; -1: none. */
const numbers: readonly (readonly [name: string, x64: number, arm64: number])[] = [
  ['read', 0, 63],
  ['write', 1, 64],
  ['open', 2, -1],
  ['close', 3, 57],
  ['stat', 4, -1],
  ['lstat', 6, -1],
  ['poll', 7, -1],
  ['mmap', 9, 222],
  ['munmap', 11, 215],
  ['ioctl', 16, 29],
  ['pread64', 17, 67],
  ['pwrite64', 18, 68],
  ['readv', 19, 65],
  ['writev', 20, 66],
  ['madvise', 28, 233],
  ['nanosleep', 35, 101],
  ['sendfile', 40, 71],
  ['connect', 42, 203],
  ['sendto', 44, 206],
  ['recvfrom', 45, 207],
  ['sendmsg', 46, 211],
  ['recvmsg', 47, 212],
  ['wait4', 61, 260],
  ['fcntl', 72, 25],
  ['flock', 73, 32],
  ['fsync', 74, 82],
  ['fdatasync', 75, 83],
  ['ftruncate', 77, 46],
  ['rename', 82, -1],
  ['mkdir', 83, -1],
  ['unlink', 87, -1],
  ['futex', 202, 98],
  ['getdents64', 217, 61],
  ['clock_nanosleep', 230, 115],
  ['epoll_wait', 232, -1],
  ['waitid', 247, 95],
  ['openat', 257, 56],
  ['unlinkat', 263, 35],
  ['renameat', 264, 38],
  ['newfstatat', 262, 79],
  ['ppoll', 271, 73],
  ['epoll_pwait', 281, 22],
  ['fallocate', 285, 47],
  ['preadv', 295, 69],
  ['pwritev', 296, 70],
  ['copy_file_range', 326, 285],
  ['statx', 332, 291],
  ['io_uring_enter', 426, 426],
  ['epoll_pwait2', 441, 441],
];
const column = arch === 'x64' ? 1 : arch === 'arm64' ? 2 : null;
const names = new Map(
  column === null ? [] : numbers.map((entry) => [entry[column], entry[0]] as const),
);

/** Time in ms without activity after which a process counts as stopped. */
export const stoppedMs = 200;

/** Returns the state of a thread for most of the time. */
export function stateOf(duration: number, cpu: number | null, starved: number | null): StallState {
  if (cpu === null || starved === null) return 'unknown';
  const parked = duration - cpu - starved;
  if (parked > cpu && parked > starved) return 'parked';
  return starved > cpu ? 'starved' : 'computing';
}

export class ThreadState {
  readonly #schedstat: number;
  readonly #syscall: number;
  readonly #buffer = Buffer.alloc(256);
  #last = '';
  #wasIdle = false;
  /** True if the thread has not run between the last two calls of {@link isIdle}. */
  hasSlept = false;
  /** Descriptor of the loop; -1: not learned yet. */
  #loop = -1;
  #candidate = -1;
  /** Descriptor on which the thread slept at the last look; -1: none. */
  #asleepOn = -1;

  private constructor(schedstat: number, syscall: number) {
    this.#schedstat = schedstat;
    this.#syscall = syscall;
  }

  /** Opens the files of a thread; null if the kernel or a sandbox hides them. */
  static open(folder: string): ThreadState | null {
    const opened: number[] = [];
    try {
      for (const name of ['schedstat', 'syscall']) opened.push(openSync(`${folder}/${name}`, 'r'));
      const state = new ThreadState(opened[0]!, opened[1]!);
      const { cpu } = state.times();
      state.call();
      if (cpu > 0) return state;
    } catch {
      // Nothing is known of the thread.
    }
    for (const fd of opened) closeSync(fd);
    return null;
  }

  times(): ThreadTimes {
    return timesOf(this.#read(this.#schedstat));
  }

  /** Returns the system call in which the thread sleeps; null if it sleeps in none, undefined if it runs or is ready to run. */
  call(): SystemCall | null | undefined {
    const [number = '', first] = this.#read(this.#syscall).split(' ');
    if (number.startsWith('running')) return undefined;
    if (!/^\d+$/.test(number)) return null;
    return { name: names.get(Number(number)) ?? `system call ${number}`, fd: Number(first) };
  }

  /** Reports whether the thread sleeps in its loop. Remembers its descriptor for {@link learn}. */
  isIdle(): boolean {
    const now = this.#read(this.#schedstat);
    this.hasSlept = now === this.#last && this.#wasIdle;
    if (this.hasSlept) return true;
    this.#last = now;
    const call = this.call();
    const fd = call?.name.startsWith('epoll_') ? call.fd : -1;
    this.#wasIdle = fd >= 0 && fd === this.#loop;
    if (!this.#wasIdle) this.#asleepOn = fd;
    return this.#wasIdle;
  }

  /** Learns from a heartbeat sent after {@link isIdle} and answered at once. */
  learn(): void {
    const fd = this.#asleepOn;
    if (fd < 0) return;
    if (fd === this.#candidate) this.#loop = fd;
    this.#candidate = fd;
  }

  /** Closes the files. */
  close(): void {
    closeSync(this.#schedstat);
    closeSync(this.#syscall);
  }

  #read(fd: number): string {
    const length = readSync(fd, this.#buffer, 0, this.#buffer.length, 0);
    return this.#buffer.toString('latin1', 0, length);
  }
}
