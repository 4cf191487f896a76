/**
 * Turns of the event loop that kept everything else waiting. A turn that takes longer than `blockedMs` is blocked, unless the thread got no
 * CPU: time in which it was ready to run, but was not on a CPU, or its CPU was taken away, is left out and counted apart. Only Linux reports
 * that; elsewhere it counts as 0. The first second is start-up, in which an application loads its modules and blocks nobody. Which functions
 * are to blame is for `profile.ts` to find.
 */
import fs from 'node:fs';
import { createHistogram } from 'node:perf_hooks';
import { idleTime, now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import { type FunctionTime, Profiler } from './profile.js';

// As Node.js has them: an application may replace them.
const { closeSync, openSync, readSync } = fs;

/** Durations of the loop's turns, and the functions that blocked it. */
export interface LoopReport {
  /** Turns after the start-up. */
  turns: number;
  /** Busy share of the loop, 0 to 1, start-up included. */
  utilization: number;
  /** p99 of the durations of turns, in ms. */
  p99Ms: number;
  /** Turns longer than this, in ms, count as blocked. */
  blockedMs: number;
  blockedTurns: number;
  /** Total and longest time of blocked turns in ms, without the time in which the thread got no CPU. */
  blockedTotalMs: number;
  blockedMaxMs: number;
  /** Turns that were longer only because the thread got no CPU. Known on Linux alone. */
  starvedTurns: number;
  /** Total time of these turns in ms. */
  starvedTotalMs: number;
  /** Part of the blocked time in ms that was attributed to functions. The profiler is on only after a first blocked turn. */
  attributedMs: number;
  /** The ten functions with the most time of their own. */
  functions: FunctionTime[];
}

/** The start-up, in ms from the start of the thread. */
export const startUpMs = 1000;
const mostFunctions = 10;
const nsPerMs = 1e6;
const hourNs = 3600 * 1000 * nsPerMs;
/** A baseline is no older than this share of what counts as blocked: reading it in each turn would cost too much. */
const staleShare = 0.1;

export class LoopObserver implements Watcher {
  readonly overLimit = false;
  readonly #histogram = createHistogram({ lowest: 1000, highest: hourNs, figures: 2 });
  readonly #profiler = new Profiler();
  readonly #startedAt = now();
  readonly #startedIdle = idleTime();
  readonly probeMs: number;
  readonly cpu: ThreadCpu;
  #lookedAt = this.#startedAt;
  #blockedTurns = 0;
  #totalMs = 0;
  #maxMs = 0;
  #starvedTurns = 0;
  #starvedMs = 0;
  #stoppedAt: number | null = null;
  #stoppedIdle = 0;

  /** @param blockedMs a turn that takes longer is blocked */
  constructor(readonly blockedMs: number) {
    this.probeMs = blockedMs;
    this.cpu = new ThreadCpu(blockedMs);
  }

  /** Turns that took too long. */
  get count(): number {
    return this.#blockedTurns + this.#starvedTurns;
  }

  /** A turn was blocked after the start-up. */
  get wasBlocked(): boolean {
    return this.#blockedTurns > 0;
  }

  start(): void {
    this.cpu.start();
    sampler.add(this);
  }

  stop(): void {
    sampler.remove(this);
    this.#profiler.stop();
    this.cpu.stop();
    this.#stoppedAt ??= now();
    this.#stoppedIdle = idleTime();
  }

  peek(): void {}

  turn(busyMs: number, at: number): void {
    const from = this.#lookedAt;
    this.#lookedAt = at;
    const ms = Math.max(0, Math.min(busyMs, at - from) - this.#profiler.takeOwnMs());
    if (from >= startUpMs) this.#recordTurn(ms, from, at);
    this.cpu.beginTurn(at);
  }

  #recordTurn(ms: number, from: number, at: number): void {
    this.#histogram.record(Math.min(hourNs, Math.max(1, Math.round(ms * nsPerMs))));
    if (ms <= this.blockedMs) return;
    const ownMs = ms - this.cpu.missedInTurn(ms);
    if (ownMs <= this.blockedMs) {
      this.#starvedTurns++;
      this.#starvedMs += ms;
      return;
    }
    this.#blockedTurns++;
    this.#totalMs += ownMs;
    if (ownMs > this.#maxMs) this.#maxMs = ownMs;
    this.#profiler.note([from, at, ownMs / ms]);
  }

  /** @param isBrief without functions of the piece of a profile that is being recorded, which reading it would end */
  read(isBrief = false): LoopReport {
    if (!isBrief) this.#profiler.gather();
    const spanMs = (this.#stoppedAt ?? now()) - this.#startedAt;
    const idleMs = (this.#stoppedAt === null ? idleTime() : this.#stoppedIdle) - this.#startedIdle;
    return {
      turns: this.#histogram.count,
      utilization: spanMs > 0 ? Math.min(1, Math.max(0, 1 - idleMs / spanMs)) : 0,
      p99Ms: this.#histogram.count === 0 ? 0 : this.#histogram.percentile(99) / nsPerMs,
      blockedMs: this.blockedMs,
      blockedTurns: this.#blockedTurns,
      blockedTotalMs: this.#totalMs,
      blockedMaxMs: this.#maxMs,
      starvedTurns: this.#starvedTurns,
      starvedTotalMs: this.#starvedMs,
      attributedMs: this.#profiler.attributedMs,
      functions: this.#profiler.functions().slice(0, mostFunctions),
    };
  }
}

/** Counters of a thread in the scheduler of Linux, in ms. */
interface Reading {
  /** Time on a CPU in ms. */
  readonly ranMs: number;
  /** Ready to run, waiting for a CPU. */
  readonly waitedMs: number;
  /** Number of times that it was put on a CPU. */
  readonly slices: number;
}

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

class ThreadCpu {
  readonly #staleMs: number;
  readonly #buffer = Buffer.alloc(128);
  #fd: number | null = null;
  /** Readings when the turn of the loop began, and some work in it, or a little earlier. */
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

  /** Marks the beginning of some work. */
  beginWork(at: number): void {
    if (this.#fd === null || at - this.#workAt < this.#staleMs) return;
    this.#work = this.#read();
    this.#workAt = at;
  }

  /** Returns those of the `ms` that the turn took so far for which it had no CPU. */
  missedInTurn(ms: number): number {
    const to = this.#read();
    return this.#turn === null || to === null ? 0 : withoutCpu(ms, this.#turn, to);
  }

  /** Returns those of the `ms` that the work took for which it had no CPU. */
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
