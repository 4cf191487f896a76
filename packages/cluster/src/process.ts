/**
 * Process as the primary sees it: starting until it listens, ready, draining, gone. Only the methods here change that state, and
 * it never goes back. Each state but ready has a deadline: a process that does not listen within `startTimeout`, or does not end
 * within its drain timeout, is killed and counts as late. The owner is told of each change once, and of the end with the reason.
 */
import cluster, { type Worker } from 'node:cluster';
import { shareMessage, shareVariable } from '@millrace/base/limits/limits';
import { clearTimeout, performance, setTimeout, within } from '@millrace/base/timers';
import type { Settings } from './options.js';
import {
  type FromPrimary,
  type FromProcess,
  type Orders,
  ordersVariable,
  type ProcessReport,
  type ProcessState,
  type RawHandle,
  reportAgeMs,
  unwrap,
  wrap,
} from './protocol.js';

/** End of a process. */
export interface Death {
  readonly code: number | null;
  readonly signal: string | null;
  /** True if it was told to end, or announced its end. */
  readonly wasDraining: boolean;
  /** True if it did not listen within `startTimeout`, or not finish within `drainTimeout`, and was killed. */
  readonly isLate: boolean;
  /** Ms for which it was ready; 0 if it never was. */
  readonly readyMs: number;
  /** Error while it started, as far as it could report it. */
  readonly reason: string | null;
}

/** Program of a process. */
interface Program extends Pick<Settings, 'args' | 'execArgv' | 'env' | 'startTimeout'> {
  readonly exec: string;
}

export interface ProcessOwner {
  ready(process: ClusterProcess): void;
  /** A message that is not about its own life. */
  message(process: ClusterProcess, body: FromProcess): void;
  /** Called when a process takes nothing more, and ends. */
  draining(process: ClusterProcess): void;
  gone(process: ClusterProcess, death: Death): void;
}

/** Describes how a process has died. */
export function describe({ code, signal, isLate, wasDraining, readyMs, reason }: Death): string {
  if (isLate) return wasDraining ? 'was killed: drainTimeout' : 'was killed: startTimeout';
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  const when = readyMs === 0 ? ' before it listened' : '';
  return `${how}${when}${reason === null ? '' : `: ${reason}`}`;
}

let count = 0;
let asks = 0;

export class ClusterProcess {
  /** Counts up: the newer one of two has the higher one. */
  readonly id = ++count;
  readonly slot: number;
  readonly pid: number;
  /** Connections that it has taken. */
  connections = 0;
  /** Busy share of its loop over the last sample; null while it has not reported any. */
  utilization: { readonly value: number; readonly at: number } | null = null;
  /** Stalls of its event loop that are over, and their total time in ms. */
  stalls = 0;
  stalledMs = 0;
  /** Address of the probes of its watch; null without one. */
  watch: { readonly host: string; readonly port: number } | null = null;
  /** True if at least once it had no file descriptor for a connection. */
  hasMissed = false;
  #state: ProcessState = 'starting';
  #readyAt: number | null = null;
  #reason: string | null = null;
  #isLate = false;
  #deadline: NodeJS.Timeout | undefined;
  readonly #worker: Worker;
  readonly #owner: ProcessOwner;
  readonly #drainTimeout: number;
  readonly #asked = new Map<number, (report: ProcessReport | null) => void>();
  #reported: Promise<ProcessReport | null> | null = null;

  constructor(orders: Orders, program: Program, share: number, owner: ProcessOwner) {
    this.slot = orders.slot;
    this.#drainTimeout = orders.drainTimeout;
    this.#owner = owner;
    const { exec, args, execArgv, env, startTimeout } = program;
    cluster.setupPrimary({
      exec,
      args: [...(args ?? process.argv.slice(2))],
      execArgv: [...(execArgv ?? process.execArgv)],
    });
    this.#worker = cluster.fork({
      ...env,
      ...shareVariable(share),
      [ordersVariable]: JSON.stringify(orders),
    });
    this.pid = this.#worker.process.pid ?? 0;
    this.#worker.on('message', (message: unknown) => this.#receive(message));
    this.#worker.once('exit', (code, signal) => this.#ended(code, signal));
    // Such as a process for which the system has no room. How a running one ends is seen by its exit.
    this.#worker.on('error', (error: Error) => {
      if (this.pid === 0) {
        this.#reason = error.message;
        this.#ended(null, null);
      }
    });
    this.#setDeadline(startTimeout);
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Ms for which it has been ready. */
  get readyMs(): number {
    return this.#readyAt === null ? 0 : performance.now() - this.#readyAt;
  }

  tell(body: FromPrimary, handle?: RawHandle): void {
    // What cannot be sent to it is sent to the one that replaces it.
    this.#worker.process.send(wrap(body), handle, {}, () => {});
  }

  setShare(cpus: number): void {
    this.#worker.process.send(shareMessage(cpus), undefined, {}, () => {});
  }

  /** Lets it finish its work and end, after `timeout` ms at the latest. */
  drain(timeout: number): void {
    if (this.#state === 'gone' || this.#state === 'draining') return;
    // One that has not begun has nothing to finish.
    if (this.#state === 'starting') this.kill();
    else this.tell({ type: 'drain' });
    this.#state = 'draining';
    this.#setDeadline(timeout);
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** Returns its report, at most {@link reportAgeMs} old; null if there is none within `timeout` ms. */
  report(timeout: number): Promise<ProcessReport | null> {
    if (this.#state === 'starting' || this.#state === 'gone') return Promise.resolve(null);
    this.#reported ??= this.#ask();
    return within(timeout, this.#reported);
  }

  /** Asks for a report, one at a time, and the next not at once: health reports must not keep all processes busy. */
  async #ask(): Promise<ProcessReport | null> {
    const ask = ++asks;
    const report = await new Promise<ProcessReport | null>((resolve) => {
      this.#asked.set(ask, resolve);
      this.tell({ type: 'report', ask });
    });
    this.#asked.delete(ask);
    setTimeout(() => (this.#reported = null), reportAgeMs).unref();
    return report;
  }

  #setDeadline(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => {
      this.#isLate = true;
      this.kill();
    }, ms);
  }

  #receive(message: unknown): void {
    const body = unwrap<FromProcess>(message);
    if (body === null || this.#state === 'gone') return;
    if (body.type === 'ready') this.#ready();
    else if (body.type === 'failed') this.#reason = body.reason;
    else if (body.type === 'report') this.#asked.get(body.ask)?.(body.report);
    else if (body.type === 'utilization') {
      this.utilization = { value: body.value, at: performance.now() };
    } else if (body.type === 'watched') this.watch = body.address;
    else if (body.type === 'draining') this.#drains();
    else this.#owner.message(this, body);
  }

  #ready(): void {
    if (this.#state !== 'starting') return;
    clearTimeout(this.#deadline);
    this.#state = 'ready';
    this.#readyAt = performance.now();
    this.#owner.ready(this);
  }

  /** Records that it drains by a signal of its own. */
  #drains(): void {
    if (this.#state === 'draining') return;
    this.#state = 'draining';
    this.#setDeadline(this.#drainTimeout);
    this.#owner.draining(this);
  }

  #ended(code: number | null, signal: string | null): void {
    if (this.#state === 'gone') return;
    const death: Death = {
      code,
      signal,
      wasDraining: this.#state === 'draining',
      isLate: this.#isLate,
      readyMs: this.readyMs,
      reason: this.#reason,
    };
    clearTimeout(this.#deadline);
    this.#state = 'gone';
    for (const answer of [...this.#asked.values()]) answer(null);
    this.#owner.gone(this, death);
  }
}
