/**
 * Measures the waits of jobs for a thread of libuv's pool. Nothing reports the length of that queue, so a job that takes no
 * time is put into it now and then, only in a turn of the loop in which something happens anyway.
 */
import { access } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { idleTime, now } from '@millrace/base/loop-clock';
import { sampler, type Watcher } from '@millrace/base/loop-sampler';
import { startUpMs } from './loop.js';

/** Waits of jobs for a thread of libuv. */
export interface ThreadpoolReport {
  /** Threads of the pool: UV_THREADPOOL_SIZE. */
  size: number;
  /** Jobs queued to measure their wait. */
  probes: number;
  /**
   * Probes that waited for 1 ms or longer while the pool was at work: a machine that is busy with something else does not
   * count.
   */
  waited: number;
  /** Share of time in which jobs had to wait, 0 to 1. */
  share: number;
  /** Lower bound of their waits, in ms. */
  meanMs: number;
  maxMs: number;
}

/** Time between two probes: while jobs wait, and after many that did not. In ms. */
const shortestMs = 50;
const longestMs = 1000;
const waitMs = 1;

export class ThreadpoolObserver implements Watcher {
  readonly probeMs = 1000;
  readonly overLimit = false;
  readonly #size = poolSize();
  #intervalMs = shortestMs;
  #isPending = false;
  #sentAt = Number.NEGATIVE_INFINITY;
  #sentIdle = 0;
  #sentCpu: NodeJS.CpuUsage | undefined;
  /** Certain wait of the current probe in ms: in turns that ended without its answer. */
  #sureMs = 0;
  #isOn = false;
  #probes = 0;
  #waited = 0;
  #sumMs = 0;
  #maxMs = 0;
  #spanMs = 0;
  #waitedSpanMs = 0;

  start(): void {
    // All threads of the process share the pool.
    if (!isMainThread) return;
    this.#isOn = true;
    sampler.add(this);
  }

  stop(): void {
    this.#isOn = false;
    sampler.remove(this);
  }

  peek(): void {}

  turn(busyMs: number, at: number, idleMs: number): void {
    if (this.#isPending) {
      // When this turn polled, there was no answer; what came after that is the loop's own time.
      this.#sureMs = Math.max(this.#sureMs, at - busyMs - this.#sentAt);
    } else if (at > startUpMs && at - this.#sentAt >= this.#intervalMs) {
      this.#probe(at, idleMs);
    }
  }

  read(): ThreadpoolReport {
    return {
      size: this.#size,
      probes: this.#probes,
      waited: this.#waited,
      share: this.#spanMs === 0 ? 0 : this.#waitedSpanMs / this.#spanMs,
      meanMs: this.#waited === 0 ? 0 : this.#sumMs / this.#waited,
      maxMs: this.#maxMs,
    };
  }

  /**
   * Reports whether the pool had more to do than the probe in the last `ms`: files and names are listed, other jobs compute,
   * which is CPU time that the loop did not take.
   */
  #isAtWork(ms: number, sleptMs: number): boolean {
    const { user, system } = process.cpuUsage(this.#sentCpu);
    const loopMs = now() - this.#sentAt - sleptMs;
    if ((user + system) / 1000 - loopMs > ms / 4) return true;
    const active = process.getActiveResourcesInfo();
    return active.filter((each) => poolRequest.test(each)).length > 1;
  }

  #probe(at: number, idleMs: number): void {
    const spanMs = Math.min(longestMs, at - this.#sentAt);
    this.#sentAt = at;
    this.#sentIdle = idleMs;
    this.#sentCpu = process.cpuUsage();
    this.#sureMs = 0;
    try {
      access('/', () => this.#answered(spanMs));
      this.#isPending = true;
    } catch {
      // The permissions of this process do not allow it.
      this.stop();
    }
  }

  #answered(spanMs: number): void {
    this.#isPending = false;
    if (!this.#isOn) return;
    // The loop slept this long, and would have been woken.
    const sleptMs = idleTime() - this.#sentIdle;
    const ms = Math.max(this.#sureMs, sleptMs);
    this.#probes++;
    this.#spanMs += spanMs + ms;
    if (ms < waitMs || !this.#isAtWork(ms, sleptMs)) {
      this.#intervalMs = Math.min(longestMs, this.#intervalMs * 2);
      return;
    }
    this.#intervalMs = shortestMs;
    this.#waited++;
    this.#sumMs += ms;
    this.#waitedSpanMs += spanMs + ms;
    if (ms > this.#maxMs) this.#maxMs = Math.min(ms, now() - this.#sentAt);
  }
}

/** Users of the pool among the resources that Node.js lists as active. */
const poolRequest = /^(FSReq|FileHandleCloseReq|GetAddrInfoReq|GetNameInfoReq)/;

/** Reads the size as libuv does when the first job comes. */
function poolSize(): number {
  const size = Number.parseInt(process.env.UV_THREADPOOL_SIZE ?? '4', 10);
  return Number.isNaN(size) || size < 1 ? 1 : Math.min(1024, size);
}
