/** Decides whether there is memory for another worker, and whether it is so short that CPU tasks have to step back. */
import type { ResourceLimits } from 'node:worker_threads';
import { hierarchies, memoryInfo, readText } from '@millrace/base/limits/kernel';
import { type SystemMemory, systemMemory } from '@millrace/base/limits/limits';
import { performance } from '@millrace/base/timers';

const mebi = 2 ** 20;

/** Bytes that a thread needs beside its heap and its stack: its isolate, the modules of Node.js, its loop. */
const isolateBytes = 10 * mebi;
/** Default limits of a worker in MiB, at most: they depend on the release and the machine. */
const usual = { young: Number.parseInt(process.versions.node, 10) < 24 ? 48 : 192, stack: 4 };

/**
 * Bytes to reserve for a worker: what its limits let it grow to, and about 10 MiB. Without `maxOldGenerationSizeMb` it has no
 * limit of its own, only the one that V8 derives from the machine: then it counts with what it has at the start.
 *
 * `actual`: the `resourceLimits` of a running worker, which know better what it has by default. Before it runs they are
 * -1, and afterwards {}: then they say nothing.
 */
export function workerBytes(limits: ResourceLimits = {}, actual: ResourceLimits = {}): number {
  const old = given(limits.maxOldGenerationSizeMb);
  const unsaid = old === undefined ? 0 : (given(actual.maxYoungGenerationSizeMb) ?? usual.young);
  const young = given(limits.maxYoungGenerationSizeMb) ?? unsaid;
  const code = given(limits.codeRangeSizeMb) ?? 0;
  const stack = given(limits.stackSizeMb) ?? usual.stack;
  return ((old ?? 0) + young + code + stack) * mebi + isolateBytes;
}

/** For Node.js, too, anything below 1 is not a size. */
const given = (size: number | undefined): number | undefined =>
  size !== undefined && size > 0 ? size : undefined;

/** In bytes. */
interface Room {
  /** Limit of the container, or of the machine. */
  readonly limitBytes: number;
  /** Bytes of it in use, by all processes; without file cache. */
  readonly usedBytes: number;
  /** Resident bytes of this process, its workers included. */
  readonly rssBytes: number;
  /** Resident bytes that it would have without them. */
  readonly baseBytes: number;
}

/**
 * Reports whether another worker of `perWorkerBytes` can start beside those for which `reservedBytes` are reserved (0: there
 * are none). The first one always can. Counted are what is used now, what the process's workers may still grow to, and the
 * new one: what they use already is what the process has more than it would have without them.
 */
export function hasRoom(room: Room, reservedBytes: number, perWorkerBytes: number): boolean {
  if (reservedBytes === 0) return true;
  const { limitBytes, usedBytes, rssBytes, baseBytes } = room;
  const growth = Math.max(0, baseBytes + reservedBytes - rssBytes);
  return usedBytes + growth + perWorkerBytes <= limitBytes;
}

/** Used shares of memory, 0 to 1. */
export interface ThrottleShares {
  /** Share from which on CPU tasks step back. */
  readonly above: number;
  /** Below this they no longer do. */
  readonly below: number;
}

/** The defaults of the options `throttleAbove` and `throttleBelow`. */
export const usualShares: ThrottleShares = { above: 0.92, below: 0.85 };

/** Reports whether memory is short, given whether it was: between the two shares it stays as it is. */
export const memoryIsShort = (
  was: boolean,
  usedShare: number,
  { above, below }: ThrottleShares = usualShares,
): boolean => usedShare >= (was ? below : above);

/**
 * The monitor counts file cache that was in use lately as used. The kernel takes that back, too, before it kills anybody, and
 * a server of files fills its whole container with it: not a reason to hold CPU tasks back. Here only what cannot be given
 * back counts as used. Each group above the process's own has at least as much of it.
 */
function withoutFileCache(root: string): Pick<SystemMemory, 'totalBytes' | 'usedBytes'> {
  const { totalBytes, availableBytes } = systemMemory(root);
  const ofMachine = memoryInfo(root, 'MemAvailable') ?? Number.POSITIVE_INFINITY;
  const available = Math.min(ofMachine, availableBytes + activeCache(root));
  return { totalBytes, usedBytes: Math.max(0, totalBytes - available) };
}

function activeCache(root: string): number {
  for (const { version, folders } of hierarchies(root, 'memory')) {
    const stat = readText(root, folders[0] ?? '', 'memory.stat') ?? '';
    const line = version === 2 ? /^active_file (\d+)$/m : /^total_active_file (\d+)$/m;
    const bytes = line.exec(stat)?.[1];
    if (bytes !== undefined) return Number(bytes);
  }
  return 0;
}

interface MemoryLook extends Room {
  /** Used share of the limit, 0 to 1. */
  readonly usedShare: number;
  /** Memory is short: CPU tasks step back, so that I/O has what is left. */
  readonly throttled: boolean;
}

interface MemoryWatchOptions {
  /** Root folder of the kernel's files, for tests; default `/`. */
  root?: string;
  /** Clock in ms, for tests. */
  clock?: () => number;
  /** Memory of the process and of the heap of this thread, for tests; default `process.memoryUsage`. */
  usage?: () => { rss: number; heapTotal: number; external: number };
  /** Shares of memory from which on it is short, and below which it no longer is; default 0.92 and 0.85. */
  shares?: ThrottleShares;
}

/** A look that is younger than this is used again, in ms. */
const freshMs = 250;

/**
 * Looks at the memory when it is asked, at most every 250 ms; it has no timer. Make it before the first worker: what the
 * process has then, and what the heap of this thread grows by later, is what it would have without workers.
 */
export class MemoryWatch {
  readonly #root: string;
  readonly #clock: () => number;
  readonly #usage: NonNullable<MemoryWatchOptions['usage']>;
  readonly #shares: ThrottleShares;
  /** Bytes of the process beyond the heap of this thread. */
  readonly #besideHeap: number;
  #last: MemoryLook | null = null;
  #at = 0;

  constructor({
    root = '/',
    clock = performance.now,
    usage = process.memoryUsage,
    shares = usualShares,
  }: MemoryWatchOptions = {}) {
    this.#root = root;
    this.#clock = clock;
    this.#usage = usage;
    this.#shares = shares;
    const { rss, heapTotal, external } = usage();
    this.#besideHeap = Math.max(0, rss - heapTotal - external);
  }

  /** About half a ms of reading if the last look is 250 ms old, else next to nothing. */
  look(): MemoryLook {
    const at = this.#clock();
    if (this.#last !== null && at - this.#at < freshMs) return this.#last;
    const { totalBytes, usedBytes } = withoutFileCache(this.#root);
    const { rss, heapTotal, external } = this.#usage();
    const usedShare = usedBytes / totalBytes;
    this.#at = at;
    this.#last = {
      limitBytes: totalBytes,
      usedBytes,
      rssBytes: rss,
      baseBytes: this.#besideHeap + heapTotal + external,
      usedShare,
      throttled: memoryIsShort(this.#last?.throttled ?? false, usedShare, this.#shares),
    };
    return this.#last;
  }

  /** Reports whether another worker may start; the first always, and none while memory is short. As {@link hasRoom}. */
  admits(reservedBytes: number, perWorkerBytes: number): boolean {
    if (reservedBytes === 0) return true;
    const look = this.look();
    return !look.throttled && hasRoom(look, reservedBytes, perWorkerBytes);
  }
}
