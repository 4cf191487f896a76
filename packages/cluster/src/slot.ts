/** One place of a cluster, which always has a process: another one after a death, a new one on reload. */
import { clearTimeout, setTimeout } from '@millrace/base/timers';
import { type BackoffOptions, deathsInRow, delayAfter, isHealthy } from './backoff.js';
import type { ClusterProcess, Death, ProcessOwner } from './process.js';
import type { FromProcess } from './protocol.js';

export interface SlotOwner {
  fork(slot: number, owner: ProcessOwner): ClusterProcess;
  message(process: ClusterProcess, body: FromProcess): void;
  ready(process: ClusterProcess): void;
  /** It is handed nothing any more. */
  leaving(process: ClusterProcess): void;
  gone(process: ClusterProcess, death: Death): void;
  /** The process of a slot died without being told to, or the system could not start one. Returns whether to try again now. */
  mayRespawn(slot: number, error?: unknown): boolean;
  /** False in a crash loop. */
  mayStart(): boolean;
}

/** Why a process did not replace another one. */
export class ReplacementFailed extends Error {
  constructor(
    readonly process: ClusterProcess,
    readonly death: Death,
  ) {
    super('the new process ended before it listened');
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

  /** All that there are, including those that come and those that go. */
  get processes(): ClusterProcess[] {
    return [this.#current, this.#next?.process, ...this.#leaving].filter((each) => each != null);
  }

  /** Has a process from now on, unless it has one. */
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

  /** Has no process from now on: those that there are drain. */
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
