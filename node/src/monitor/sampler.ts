/**
 * Looks at each turn of the loop, and lets an idle loop sleep. One for each thread, shared by all its monitors.
 *
 * An immediate that is not referenced runs in the check phase of every turn, and does not make the loop turn: that is the
 * look, and it costs nothing while nothing happens. What it cannot see in time is a timer that blocks just before the loop goes
 * to sleep, since the next check phase comes when the loop has woken up. So the first turn after a sleep sets one timer, the
 * probe, which is late by then and ends that sleep at once. It is set again only if something happened meanwhile.
 */
import { AsyncResource } from 'node:async_hooks';
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { idleTime, now } from './clock.js';

/** What a monitor is to the sampler. */
export interface Watcher {
  /** Ms after which a probe has to come: no longer than what counts as a block. */
  readonly probeMs: number;
  /** While it is true the probe is set again and again. */
  readonly overLimit: boolean;
  /** Before the I/O of this turn: its loop has been busy for `busyMs` so far. */
  peek(busyMs: number, at: number): void;
  /** A turn has ended; without its sleep it took `busyMs`. `idleMs` is {@link idleTime}. */
  turn(busyMs: number, at: number, idleMs: number): void;
}

/** A turn in which less happened than this is one in which nothing happened. */
const quietMs = 1;

/** Monitors are often made inside of a request; its AsyncLocalStorage values are not those of the sampler. */
const context = new AsyncResource('MillraceMonitor', { requireManualDestroy: true });

class Sampler {
  readonly #watchers = new Set<Watcher>();
  #look: NodeJS.Immediate | undefined;
  #probe: NodeJS.Timeout | undefined;
  /** The probe has come, and made the next look come, too. */
  #probed = false;
  #at = 0;
  #idle = 0;

  add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (this.#look !== undefined) return;
    this.#at = now();
    this.#idle = idleTime();
    context.runInAsyncScope(() => {
      this.#look = setImmediate(this.#turn).unref();
      this.#setProbe();
    });
  }

  remove(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher) || this.#watchers.size > 0) return;
    clearImmediate(this.#look);
    clearTimeout(this.#probe);
    this.#look = undefined;
    this.#probe = undefined;
    this.#probed = false;
  }

  readonly #turn = (): void => {
    this.#look = setImmediate(this.#turn).unref();
    const at = now();
    const idle = idleTime();
    const busy = Math.max(0, at - this.#at - (idle - this.#idle));
    this.#at = at;
    this.#idle = idle;
    this.#tell((watcher) => watcher.turn(busy, at, idle));
    const isQuiet = this.#probed && busy < quietMs;
    this.#probed = false;
    if (!isQuiet || this.#isOver()) this.#setProbe();
  };

  /** The look comes before the loop can sleep again: timers that follow this one have not had their turn yet. */
  readonly #probeCame = (): void => {
    this.#probe = undefined;
    this.#probed = true;
    this.#look?.ref();
    const at = now();
    const busy = Math.max(0, at - this.#at - (idleTime() - this.#idle));
    this.#tell((watcher) => watcher.peek(busy, at));
  };

  #setProbe(): void {
    // A listener may have stopped the last monitor.
    if (this.#probe !== undefined || this.#look === undefined) return;
    let ms = Number.POSITIVE_INFINITY;
    for (const { probeMs } of this.#watchers) if (probeMs < ms) ms = probeMs;
    this.#probe = setTimeout(this.#probeCame, ms).unref();
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
        process.nextTick(() => {
          throw error;
        });
      }
    }
  }
}

export const sampler = new Sampler();
