/**
 * Time in which this thread was ready to run and got no CPU, or its CPU was taken away. Only Linux reports it; elsewhere it
 * counts as 0.
 */
import fs from 'node:fs';

// As Node.js has them: an application may replace them.
const { closeSync, openSync, readSync } = fs;

/** Counters of a thread in the scheduler of Linux, in ms. */
interface Reading {
  /** On a CPU. */
  readonly ranMs: number;
  /** Ready to run, waiting for a CPU. */
  readonly waitedMs: number;
  /** Number of times that it was put on a CPU. */
  readonly slices: number;
}

/** A baseline is no older than this share of what counts as blocked: reading it in each turn would cost too much. */
const staleShare = 0.1;
const nsPerMs = 1e6;

/**
 * Of `ms` between two readings, the part that a thread had no CPU though it wanted one. What it slept in a system call, as on a slow
 * disk, is not part of it.
 */
export function withoutCpu(ms: number, from: Reading, to: Reading): number {
  const awayMs = Math.max(0, ms - (to.ranMs - from.ranMs));
  // It was on its CPU all the time, and got nothing of it: another virtual machine did.
  if (to.slices === from.slices) return awayMs;
  return Math.min(awayMs, to.waitedMs - from.waitedMs);
}

export class ThreadCpu {
  readonly #staleMs: number;
  readonly #buffer = Buffer.alloc(128);
  #fd: number | null = null;
  /** When the turn of the loop began, and some work in it, or a little earlier. */
  #turn: Reading | null = null;
  #turnAt = Number.NEGATIVE_INFINITY;
  #work: Reading | null = null;
  #workAt = Number.NEGATIVE_INFINITY;

  /** @param blockedMs a turn that takes longer is blocked */
  constructor(blockedMs: number) {
    this.#staleMs = blockedMs * staleShare;
  }

  start(): void {
    try {
      this.#fd = openSync('/proc/thread-self/schedstat', 'r');
    } catch {
      // Another system, or a kernel or permissions without it.
    }
  }

  stop(): void {
    const fd = this.#fd;
    this.#fd = null;
    this.#turn = null;
    this.#work = null;
    try {
      if (fd !== null) closeSync(fd);
    } catch {
      // The application has closed it.
    }
  }

  /** A turn of the loop begins. */
  beginTurn(at: number): void {
    if (this.#fd === null || at - this.#turnAt < this.#staleMs) return;
    this.#turn = this.#read();
    this.#turnAt = at;
    this.#work = this.#turn;
    this.#workAt = at;
  }

  /** Some work begins. */
  beginWork(at: number): void {
    if (this.#fd === null || at - this.#workAt < this.#staleMs) return;
    this.#work = this.#read();
    this.#workAt = at;
  }

  /** Of the `ms` that the turn took so far, those without a CPU. */
  missedInTurn(ms: number): number {
    const to = this.#read();
    return this.#turn === null || to === null ? 0 : withoutCpu(ms, this.#turn, to);
  }

  /** Of the `ms` that the work took, those without a CPU. */
  missedInWork(ms: number, at: number): number {
    const from = this.#work;
    const to = this.#read();
    this.#work = to;
    this.#workAt = at;
    return from === null || to === null ? 0 : withoutCpu(ms, from, to);
  }

  #read(): Reading | null {
    if (this.#fd === null) return null;
    try {
      // What the file says is as old as the last tick of the kernel; this call brings it up to date.
      process.cpuUsage();
      const length = readSync(this.#fd, this.#buffer, 0, this.#buffer.length, 0);
      const [ran, waited, slices] = this.#buffer.toString('latin1', 0, length).split(' ');
      const reading = {
        ranMs: Number(ran) / nsPerMs,
        waitedMs: Number(waited) / nsPerMs,
        slices: Number(slices),
      };
      return Object.values(reading).every(Number.isFinite) ? reading : null;
    } catch {
      return null;
    }
  }
}
