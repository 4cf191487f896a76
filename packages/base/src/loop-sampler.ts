/**
 * Looks at each turn of the loop, and lets an idle loop sleep. One for each thread, shared by all that watch the loop.
 *
 * An immediate that is not referenced runs in the check phase of every turn, and does not make the loop turn: that is the
 * look, and it costs nothing while nothing happens. What it cannot see in time is a block after it, in later immediates or
 * in timers, if the loop goes to sleep then: the next check phase comes when the loop has woken up. So a look leaves a timer,
 * the probe, which is due after such a block. Timers come last before the sleep, and one that got due meanwhile still runs.
 *
 * For an idle loop to stay asleep there has to be a last probe: the second in a row before which nothing happened. Then only
 * a timer that follows it in the same run of timers can block unseen until the loop wakes up. Whatever comes by way of the
 * poll or the check phase meets a look, which sets a probe anew.
 */
import { AsyncResource } from 'node:async_hooks';
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from '@millrace/base/timers';
import { throwLater } from '@millrace/base/turn';
import { idleTime, now } from './loop-clock.js';

/** Observer of the loop, as the sampler sees it. */
export interface Watcher {
  /** Ms after which a probe has to come: no longer than what counts as a block. */
  readonly probeMs: number;
  /** While it is true the probe is set again and again. */
  readonly overLimit: boolean;
  /** Called before the I/O of a turn: its loop has been busy for `busyMs` so far. */
  peek(busyMs: number, at: number): void;
  /** A turn has ended; without its sleep it took `busyMs`. `idleMs` is {@link idleTime}. */
  turn(busyMs: number, at: number, idleMs: number): void;
}

/** A turn in which less happened than this is one in which nothing happened. */
const quietMs = 1;

/**
 * Timers that were set in the same turn as the probe, for the same time, are due along with it or a ms later: the last probe
 * comes after them.
 */
const confirmMs = 2;

/** Monitors are often made inside of a request; its AsyncLocalStorage values are not those of the sampler. */
const context = new AsyncResource('MillraceMonitor', { requireManualDestroy: true });

class Sampler {
  readonly #watchers = new Set<Watcher>();
  #look: NodeJS.Immediate | undefined;
  #probe: NodeJS.Timeout | undefined;
  /** True if nothing happened since the probe was set. */
  #isQuiet = true;
  /** The probe that is set has to confirm that, and is then the last one. */
  #isLast = false;
  #at = 0;
  #idle = 0;

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    context.runInAsyncScope(() => {
      if (this.#look === undefined) {
        this.#at = now();
        this.#idle = idleTime();
        this.#look = setImmediate(this.#turn).unref();
      }
      // The probe of the others may come too late for this one.
      this.#clearProbe();
      this.#setProbe();
    });
  }

  remove(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    clearImmediate(this.#look);
    this.#look = undefined;
    this.#clearProbe();
  }

  readonly #turn = (): void => {
    this.#look = setImmediate(this.#turn).unref();
    const at = now();
    const idle = idleTime();
    const busy = this.#busy(at, idle);
    this.#at = at;
    this.#idle = idle;
    if (busy >= quietMs) this.#isQuiet = false;
    this.#tell((watcher) => watcher.turn(busy, at, idle));
    // A listener may have stopped the last monitor, or made one.
    if (this.#probe === undefined && this.#look !== undefined) this.#setProbe();
  };

  readonly #probeCame = (): void => {
    this.#probe = undefined;
    const at = now();
    const busy = this.#busy(at, idleTime());
    const isQuiet = this.#isQuiet && busy < quietMs;
    const isLast = this.#isLast;
    this.#tell((watcher) => watcher.peek(busy, at));
    if (this.#probe !== undefined || this.#look === undefined) return;
    if (!isQuiet || this.#isOver()) this.#setProbe();
    else if (!isLast) this.#setProbe(confirmMs);
  };

  /** Ms since the last look, without sleep. */
  #busy(at: number, idle: number): number {
    return Math.max(0, at - this.#at - (idle - this.#idle));
  }

  #setProbe(ms?: number): void {
    this.#isQuiet = true;
    this.#isLast = ms !== undefined;
    this.#probe = setTimeout(this.#probeCame, ms ?? this.#probeMs()).unref();
  }

  #clearProbe(): void {
    clearTimeout(this.#probe);
    this.#probe = undefined;
  }

  #probeMs(): number {
    let ms = Number.POSITIVE_INFINITY;
    for (const { probeMs } of this.#watchers) if (probeMs < ms) ms = probeMs;
    return ms;
  }

  #isOver(): boolean {
    for (const { overLimit } of this.#watchers) if (overLimit) return true;
    return false;
  }

  /** An error of one monitor's listener is an uncaught exception, and does not keep the turn from the other monitors. */
  #tell(of: (watcher: Watcher) => void): void {
    for (const watcher of this.#watchers) {
      try {
        of(watcher);
      } catch (error) {
        throwLater(error);
      }
    }
  }
}

export const sampler = new Sampler();
