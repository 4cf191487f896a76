/** Turns of the event loop that kept everything else waiting, and the functions to blame. */
import { createHistogram } from 'node:perf_hooks';
import { idleTime, now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import type { FunctionTime } from './attribute.js';
import { ThreadCpu } from './cpu.js';
import type { Observer } from './observer.js';
import { Profiler } from './profiler.js';

/** How long turns of the loop took, and the functions that kept it. */
export interface LoopReport {
  /** Turns after the start-up. */
  turns: number;
  /** Busy share of the loop, 0 to 1, start-up included. */
  utilization: number;
  /** 99 % of the turns took no longer, in ms. */
  p99Ms: number;
  /** Turns longer than this, in ms, count as blocked. */
  blockedMs: number;
  blockedTurns: number;
  /** Their total and longest time in ms, without the time in which the thread got no CPU. */
  blockedTotalMs: number;
  blockedMaxMs: number;
  /** Turns that were longer only because the thread got no CPU. Told apart on Linux alone. */
  starvedTurns: number;
  /** Their total time in ms. */
  starvedTotalMs: number;
  /** Of this sum, what was attributed to functions. The profiler is on only after a first turn has been blocked. */
  attributedMs: number;
  /** The ten with the most time of their own. */
  functions: FunctionTime[];
}

/** The start-up, in ms from the start of the thread: an application loads its modules then, and blocks nobody. */
export const startUpMs = 1000;
const mostFunctions = 10;
const nsPerMs = 1e6;
const hourNs = 3600 * 1000 * nsPerMs;

export class LoopObserver implements Observer<LoopReport>, Watcher {
  readonly probeMs: number;
  readonly overLimit = false;
  readonly #histogram = createHistogram({ lowest: 1000, highest: hourNs, figures: 2 });
  readonly #profiler = new Profiler();
  readonly #startedAt = now();
  readonly #startedIdle = idleTime();
  readonly blockedMs: number;
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
  constructor(blockedMs: number) {
    this.blockedMs = blockedMs;
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
    if (from >= startUpMs) this.#note(ms, from, at);
    this.cpu.beginTurn(at);
  }

  #note(ms: number, from: number, at: number): void {
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
