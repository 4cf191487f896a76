/**
 * A slot is one place of a cluster. It always has a process: another one after a death, a new one on reload. At most one process is
 * in charge (`current`), one is on its way to replace it (`#next`), and any number drain (`#leaving`).
 *
 * The first restart after a healthy time is immediate. Further ones in a row are delayed, from `respawnDelay` doubling up to
 * `maxRespawnDelay`. The cluster decides whether to restart at all: deaths of all slots within a window make a crash loop. A
 * replacement must listen before the old process drains; when it dies before that, the old one stays.
 */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import type { Settings } from './options.js';
import { type ClusterProcess, type Death, describe, type ProcessOwner } from './process.js';
import type { FromProcess } from './protocol.js';

/** Times in ms; see `ServeOptions`. */
type BackoffOptions = Pick<Settings, 'respawnDelay' | 'maxRespawnDelay' | 'healthyAfter'>;

/** Reports whether it ran for long enough (0 ms: it was never ready). */
const isHealthy = (ranMs: number, { healthyAfter }: BackoffOptions): boolean =>
  ranMs > 0 && ranMs >= healthyAfter;

/** Deaths in a row, with this one, of a process that was ready for `ranMs` (0 if it never was). */
export function deathsInRow(before: number, ranMs: number, options: BackoffOptions): number {
  return isHealthy(ranMs, options) ? 1 : before + 1;
}

/** Ms until the next start, after this many deaths in a row. */
export function delayAfter(deaths: number, options: BackoffOptions): number {
  if (deaths <= 1) return 0;
  return Math.min(options.maxRespawnDelay, options.respawnDelay * 2 ** (deaths - 2));
}

/** Deaths of all processes within a window of time. */
export class CrashWindow {
  readonly #windowMs: number;
  #times: number[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  record(at: number): void {
    this.#times.push(at);
  }

  count(at: number): number {
    this.#times = this.#times.filter((time) => at - time < this.#windowMs);
    return this.#times.length;
  }

  clear(): void {
    this.#times = [];
  }
}

export interface SlotOwner extends Omit<ProcessOwner, 'draining'> {
  fork(slot: number, owner: ProcessOwner): ClusterProcess;
  /** Called when a process gets no more connections. */
  leaving(process: ClusterProcess): void;
  /** The process of a slot died without being told to, or the system could not start one. Returns whether to try again now. */
  mayRespawn(slot: number, error?: unknown): boolean;
  /** False in a crash loop. */
  mayStart(): boolean;
}

/** Reason why a process did not replace another one. */
export class ReplacementFailed extends Error {
  constructor({ pid }: ClusterProcess, death: Death) {
    super(`new process ${pid} ${describe(death)}`);
  }
}

interface Replacement {
  readonly process: ClusterProcess;
  resolve(): void;
  reject(error: Error): void;
}

export class Slot implements ProcessOwner {
  readonly index: number;
  /** Times that a process died here and was replaced. */
  restarts = 0;
  readonly #owner: SlotOwner;
  readonly #backoff: BackoffOptions;
  readonly #leaving = new Set<ClusterProcess>();
  #current: ClusterProcess | null = null;
  #next: Replacement | null = null;
  #deaths = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #left: (() => void)[] = [];

  constructor(index: number, backoff: BackoffOptions, owner: SlotOwner) {
    this.index = index;
    this.#backoff = backoff;
    this.#owner = owner;
  }

  /** The process in charge, ready or not; null between a death and the next start. */
  get current(): ClusterProcess | null {
    return this.#current;
  }

  get isEmpty(): boolean {
    return this.#current === null && this.#next === null;
  }

  /** Processes, including starting and ending ones. */
  get processes(): ClusterProcess[] {
    return [this.#current, this.#next?.process, ...this.#leaving].filter((each) => each != null);
  }

  /** Starts a process, unless there is one. */
  start(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || !this.isEmpty || !this.#owner.mayStart()) return;
    try {
      this.#current = this.#owner.fork(this.index, this);
    } catch (error) {
      this.#deaths++;
      if (this.#owner.mayRespawn(this.index, error)) this.#respawn();
    }
  }

  /** Starts a new one, and when that is ready has the old one drain. Rejects if that does not become ready; then the old one stays. */
  replace(drainTimeout: number): Promise<void> {
    clearTimeout(this.#timer);
    return new Promise((resolve, reject) => {
      // An error of the system rejects as well.
      const process = this.#owner.fork(this.index, this);
      const replaced = () => {
        const old = this.#current;
        this.#current = process;
        this.#next = null;
        if (old !== null) this.#dismiss(old, drainTimeout);
        resolve();
      };
      this.#next = { process, resolve: replaced, reject };
    });
  }

  /** Lets the processes drain, and starts no other. */
  close(drainTimeout: number): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const { processes } = this;
    this.#current = null;
    for (const process of processes) this.#dismiss(process, drainTimeout);
  }

  /** Resolves when those that were told to drain have ended. */
  left(): Promise<void> {
    if (this.#leaving.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#left.push(resolve));
  }

  ready(process: ClusterProcess): void {
    if (this.#next?.process === process) this.#next.resolve();
    this.#owner.ready(process);
  }

  message(process: ClusterProcess, body: FromProcess): void {
    this.#owner.message(process, body);
  }

  /** Somebody else has told it to end: there has to be another one. */
  draining(process: ClusterProcess): void {
    this.#owner.leaving(process);
    if (this.#current !== process) return;
    this.#leaving.add(process);
    this.#current = null;
    // One that gives up as it starts, or soon after, would go on doing so for ever.
    if (isHealthy(process.readyMs, this.#backoff)) this.start();
    else this.#died(process.readyMs);
  }

  gone(process: ClusterProcess, death: Death): void {
    this.#owner.gone(process, death);
    this.#leaving.delete(process);
    if (this.#leaving.size === 0) for (const resolve of this.#left.splice(0)) resolve();
    const next = this.#next;
    if (next?.process === process) {
      this.#next = null;
      next.reject(new ReplacementFailed(process, death));
    } else if (this.#current === process) {
      this.#current = null;
      this.#died(death.readyMs);
    }
  }

  #died(readyMs: number): void {
    this.#deaths = deathsInRow(this.#deaths, readyMs, this.#backoff);
    if (this.#owner.mayRespawn(this.index)) this.#respawn();
  }

  #respawn(): void {
    if (this.#isClosed || this.#next !== null) return;
    this.restarts++;
    const delay = delayAfter(this.#deaths, this.#backoff);
    if (delay === 0) this.start();
    else this.#timer = setTimeout(() => this.start(), delay);
  }

  #dismiss(process: ClusterProcess, drainTimeout: number): void {
    this.#leaving.add(process);
    this.#owner.leaving(process);
    process.drain(drainTimeout);
  }
}

/**
 * Replaces the processes of all slots, `reloadConcurrency` at a time. Resolves when the last of the old processes has ended.
 * Rejects with the first failure: then no more are started, and slots whose turn had not come keep what they have.
 */
export async function replaceAll(
  slots: readonly Slot[],
  { reloadConcurrency, drainTimeout }: Pick<Settings, 'reloadConcurrency' | 'drainTimeout'>,
  replaced: () => void,
): Promise<void> {
  const waiting = [...slots];
  const replaceWaiting = async () => {
    for (let slot = waiting.shift(); slot !== undefined; slot = waiting.shift()) {
      try {
        await slot.replace(drainTimeout);
        replaced();
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    }
  };
  const all = Array.from({ length: Math.min(reloadConcurrency, slots.length) }, replaceWaiting);
  const results = await Promise.allSettled(all);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  await Promise.all(slots.map((slot) => slot.left()));
}
