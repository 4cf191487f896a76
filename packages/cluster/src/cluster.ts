/**
 * A cluster, in its primary: how many processes there are, what happens when they die, and what is told of it. The cluster owns the
 * slots and the listeners. A slot owns its processes, and asks the cluster before each restart.
 *
 * It starts when all are ready, or some while the others keep dying. Deaths within `crashWindow` are counted over all slots: too many
 * make a crash loop, in which no slot starts a process until the window has passed or a reload is asked for. With no process left in
 * a crash loop the cluster gives up and closes. One reload runs at a time; calls meanwhile share the next one. Closing is final: the
 * ports first, then what was accepted, then the processes, each within what is left of `drainTimeout`.
 */
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import { MillraceError } from '@millrace/base/errors';
import { parseValue } from '@millrace/base/options';
import { ms } from '@millrace/base/schema';
import { announce } from '@millrace/base/sources';
import { clearTimeout, performance, setTimeout, within } from '@millrace/base/timers';
import type { Stall } from '@millrace/monitor/stalls';
import { Listeners } from './listeners.js';
import { poolShares, type Settings } from './options.js';
import { ClusterProbes, type ProbesAddress } from './probes.js';
import { ClusterProcess, type Death, describe } from './process.js';
import {
  type ClusterHealth,
  type ClusterStats,
  type FromProcess,
  health,
  type SocketName,
} from './protocol.js';
import { startScaling } from './scaling.js';
import { CrashWindow, ReplacementFailed, replaceAll, Slot, type SlotOwner } from './slot.js';
import { type ClusterStall, StallLog } from './stalls.js';

/** For calls that come after `close()`. */
const closed = () =>
  new MillraceError('MILLRACE_E_CLOSED', 'the cluster is closed; call serve() for another one');

/** A process, in an event. */
export interface ProcessName {
  readonly slot: number;
  readonly pid: number;
}

/** Events of a cluster, in the primary. */
export interface ClusterEvents {
  /** A process is ready: it listens. */
  ready: [process: ProcessName];
  /** A process has ended unexpectedly, or was killed because it did not end in time. */
  death: [process: ProcessName & Pick<Death, 'code' | 'signal' | 'isLate' | 'reason'>];
  /** Too many processes died within `crashWindow`: none is replaced until that time has passed, or until the next reload. */
  'crash-loop': [state: { readonly deaths: number; readonly ready: number }];
  /** A reload is complete: all processes run the new code. */
  reload: [];
  'reload-failed': [error: MillraceError];
  /** A stall of a process is over. While it lasts, the probes tell of it. */
  stall: [stall: ClusterStall];
  /** The number of processes that should run has changed. */
  scale: [change: { readonly from: number; readonly to: number; readonly utilization: number }];
  /** Emitted when all processes have ended, and the ports are free. */
  close: [];
}

const timeoutField = ms(1, 60_000);

/**
 * The processes that `serve()` started, seen from the program that did it.
 *
 * @fires ready, death, crash-loop, reload, reload-failed, stall, scale, close
 */
export class Cluster extends EventEmitter<ClusterEvents> {
  readonly isPrimary = true;
  readonly #settings: Settings;
  readonly #file: string | null;
  readonly #exec: string;
  readonly #listeners: Listeners;
  readonly #crashes: CrashWindow;
  readonly #slots: Slot[] = [];
  /** Slots whose last process has not ended yet: it still has its loop and its threads. */
  readonly #removed = new Set<Slot>();
  readonly #live = new Set<ClusterProcess>();
  readonly #stalls = new StallLog();
  readonly #probes = new ClusterProbes({
    processes: () => [...this.#live],
    isClosing: () => this.#closing !== null,
    recentStalls: () => this.#stalls.recent(),
  });
  #deaths = 0;
  #reloads = 0;
  #late = 0;
  /** True once some process has been ready. */
  #hasStarted = false;
  #loopTimer: NodeJS.Timeout | null = null;
  #started: { resolve(): void; reject(error: Error): void } | null = null;
  #reloading: Promise<void> | null = null;
  #queued: Promise<void> | null = null;
  #closing: Promise<number> | null = null;
  #ended: (() => void) | null = null;
  #stopScaling = () => {};
  #stopSignals = () => {};

  /** Use `serve()`. */
  constructor(settings: Settings, file: string | null, exec: string) {
    super();
    this.#settings = settings;
    this.#file = file;
    this.#exec = exec;
    this.#listeners = new Listeners(settings.sticky, settings.oneRequest);
    this.#crashes = new CrashWindow(settings.crashWindow);
    announce('cluster', this as Cluster, (each) => each.stats());
  }

  /** Address of the application; null before it listens. */
  get address(): SocketName | null {
    return this.#listeners.address;
  }

  /** Address of the probes; null while they do not listen. */
  get probes(): ProbesAddress | null {
    return this.#probes.address;
  }

  /**
   * Starts the processes, for `serve()`. Resolves when all are ready, or some and the others do not start; rejects when none
   * starts.
   */
  async start(): Promise<this> {
    const { port, host, backlog, min, max, signals, stalls } = this.#settings;
    const probes = stalls !== false && stalls.probes;
    if (probes) {
      const why = await this.#probes.listen(probes);
      if (why !== null) this.#settings.log(why);
    }
    if (port !== null) {
      await this.#listeners.openMain({ address: host, port, backlog, flags: 0 });
    }
    if (signals) this.#handleSignals();
    const started = new Promise<void>((resolve, reject) => {
      this.#started = { resolve, reject };
    });
    this.#resize(min);
    await started;
    if (min < max) {
      const resize = (to: number, utilization: number) => {
        const from = this.#slots.length;
        this.#resize(to);
        this.emit('scale', { from, to, utilization });
      };
      this.#stopScaling = startScaling(this.#settings, () => this.#steady(), resize);
    }
    return this;
  }

  /** Counters of the primary and what it knows of each process, as plain data. Some µs. */
  stats(): ClusterStats {
    const wanted = this.#slots.length;
    const shares = this.#shares();
    const ready = this.#ready();
    return {
      status: this.#closing !== null ? 'draining' : statusOf(ready, wanted),
      wanted,
      ready,
      deaths: this.#deaths,
      reloads: this.#reloads,
      waitingConnections: this.#listeners.waiting,
      refusedConnections: this.#listeners.refused,
      stalls: this.#stalls.stats(),
      processes: [...this.#live].map((process) => ({
        slot: process.slot,
        pid: process.pid,
        state: process.state,
        uptime: process.readyMs / 1000,
        restarts: this.#slots[process.slot - 1]?.restarts ?? 0,
        cpus: shares[process.slot - 1] ?? 0,
        accepted: process.connections,
        stalls: process.stalls,
        stalledMs: process.stalledMs,
      })),
    };
  }

  /** Last hundred stalls of all processes that are over, oldest first. */
  recentStalls(): ClusterStall[] {
    return this.#stalls.recent();
  }

  /**
   * Collects a report from each process, and the totals. One that does not answer within `timeout` ms (1 to 60,000, default
   * 500) has `report: null`: its loop is blocked, or it has just started. A message to each process and back, unless its last
   * report is less than 250 ms old.
   *
   * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION`
   */
  async health(timeout = 500): Promise<ClusterHealth> {
    parseValue('Cluster.health()', 'timeout', timeout, timeoutField);
    const processes = [...this.#live];
    const stats = this.stats();
    return health(stats, await Promise.all(processes.map((process) => process.report(timeout))));
  }

  /**
   * Replaces each process by a new one, which loads the files anew. An old process begins to drain when its new one listens.
   * Resolves when the last old one has ended. While a reload runs, all further calls together make one more.
   *
   * @throws {MillraceError} `MILLRACE_E_WORKER` if a new process does not start: the old ones that are left stay;
   *   `MILLRACE_E_CLOSED` if the cluster is being closed
   */
  reload(): Promise<void> {
    if (this.#closing !== null) return Promise.reject(closed());
    if (this.#reloading === null) {
      this.#reloading = this.#replaceAll().finally(() => (this.#reloading = null));
      return this.#reloading;
    }
    this.#queued ??= this.#reloading
      .catch(() => {})
      .then(() => {
        this.#queued = null;
        return this.reload();
      });
    return this.#queued;
  }

  /**
   * Closes the ports, lets the processes finish their requests, and resolves when they have ended. Kills the processes that
   * have not ended within `drainTimeout`.
   */
  async close(): Promise<void> {
    await this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #replaceAll(): Promise<void> {
    let replaced = 0;
    this.#endCrashLoop();
    try {
      await replaceAll(this.#slots, this.#settings, () => replaced++);
    } catch (error) {
      if (this.#closing !== null) throw closed();
      // The slots that had nothing to keep.
      for (const slot of this.#slots) slot.start();
      const why = error instanceof ReplacementFailed ? error.message : String(error);
      const rest = `${replaced} of ${this.#slots.length} were replaced, the others go on as they are`;
      const message = `reload failed: ${why}; ${rest}`;
      const failure = new MillraceError('MILLRACE_E_WORKER', message, { cause: error });
      this.#settings.log(failure.message);
      this.emit('reload-failed', failure);
      throw failure;
    }
    this.#listeners.prune();
    this.#reloads++;
    this.emit('reload');
  }

  /** Returns how many had to be killed. */
  #close(): Promise<number> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<number> {
    this.#stopScaling();
    this.#endCrashLoop();
    this.#started?.reject(closed());
    const { drainTimeout } = this.#settings;
    const end = performance.now() + drainTimeout;
    const stopped = this.#listeners.stop();
    // What was accepted is served as well, if a process has time to take it.
    if (this.#ready() > 0) await within(drainTimeout / 2, stopped);
    const killedBefore = this.#late;
    const left = Math.max(0, end - performance.now());
    for (const slot of this.#slots) slot.close(left);
    if (this.#live.size > 0) await new Promise<void>((resolve) => (this.#ended = resolve));
    this.#stopSignals();
    this.#listeners.close();
    this.#probes.close();
    this.emit('close');
    return this.#late - killedBefore;
  }

  /** Handles the signals of a supervisor. The second one to end does so at once. */
  #handleSignals(): void {
    let isEnding = false;
    const end = (signal: NodeJS.Signals) => {
      if (isEnding) {
        for (const process of this.#live) process.kill();
        process.exit(128 + constants.signals[signal]);
      }
      isEnding = true;
      void this.#close().then((killed) => process.exit(killed > 0 ? 1 : 0));
    };
    // A failure has been reported already.
    const again = () => void this.reload().catch(() => {});
    process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', again);
    this.#stopSignals = () => {
      process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', again);
    };
  }

  /** Makes `count` slots; the processes of those beyond drain. */
  #resize(count: number): void {
    const slots = this.#slots;
    const removed = slots.splice(count);
    for (const slot of removed) {
      slot.close(this.#settings.drainTimeout);
      this.#removed.add(slot);
      void slot.left().then(() => {
        this.#removed.delete(slot);
        this.#dealOut();
      });
    }
    while (slots.length < count) {
      slots.push(new Slot(slots.length + 1, this.#settings, this.#slotOwner));
    }
    this.#dealOut();
    for (const slot of slots) slot.start();
  }

  #dealOut(): void {
    const shares = this.#shares();
    for (const [i, slot] of this.#slots.entries()) {
      for (const process of slot.processes) process.setShare(shares[i]!);
    }
  }

  #shares(): number[] {
    return poolShares(this.#settings.usable, this.#slots.length + this.#removed.size);
  }

  #ready(): number {
    return this.#slots.filter(({ current }) => current?.state === 'ready').length;
  }

  /** The processes in charge, if all are ready and stay so as far as is known. */
  #steady(): ClusterProcess[] | null {
    if (this.#reloading !== null || this.#loopTimer !== null) return null;
    const ready = this.#slots.flatMap(({ current }) => (current?.state === 'ready' ? current : []));
    return ready.length === this.#slots.length ? ready : null;
  }

  readonly #slotOwner: SlotOwner = {
    fork: (slot, owner) => {
      const { port, host, backlog, drainTimeout, idleGrace } = this.#settings;
      const { min, max, scaleInterval, stalls } = this.#settings;
      const sampleInterval = min < max ? scaleInterval : 0;
      const file = this.#file;
      const place = { slot, file, port, host, backlog };
      const orders = { ...place, drainTimeout, idleGrace, sampleInterval, stalls };
      const env = port === null ? {} : { PORT: String(this.address?.port ?? port) };
      const settings = { ...this.#settings, env: { ...env, ...this.#settings.env } };
      const share = this.#shares()[slot - 1]!;
      const process = new ClusterProcess(orders, { ...settings, exec: this.#exec }, share, owner);
      this.#live.add(process);
      return process;
    },
    ready: ({ slot, pid }) => {
      this.#hasStarted = true;
      this.emit('ready', { slot, pid });
      if (this.#ready() >= this.#slots.length) this.#started?.resolve();
    },
    message: (process, body) => this.#receive(process, body),
    leaving: (process) => this.#listeners.leave(process),
    gone: (process, death) => {
      this.#live.delete(process);
      this.#listeners.gone(process);
      if (!death.wasDraining || death.isLate) this.#tellDeath(process, death);
      if (this.#live.size === 0) this.#ended?.();
    },
    mayStart: () => this.#loopTimer === null,
    mayRespawn: (slot, error) => {
      if (error !== undefined) this.#settings.log(`slot ${slot} gets no process: ${error}`);
      return this.#died();
    },
  };

  #receive(process: ClusterProcess, body: FromProcess): void {
    if (body.type === 'listen') void this.#listeners.join(process, body);
    else if (body.type === 'unlisten') this.#listeners.unlisten(process, body.server);
    else if (body.type === 'took') this.#listeners.took(process, body.connection);
    else if (body.type === 'refused') this.#listeners.didRefuse(process, body.connection);
    else if (body.type === 'missed') this.#didMiss(process, body.connection);
    else if (body.type === 'stall') this.#stalled(process, body.stall);
    else if (body.type === 'unwatched') {
      const { pid, slot } = process;
      this.#settings.log(`process ${pid} (slot ${slot}) is not watched: ${body.reason}`);
    } else if (body.type === 'health') {
      const { ask, timeout } = body;
      void this.health(timeout).then((health) => process.tell({ type: 'health', ask, health }));
    }
  }

  #stalled(process: ClusterProcess, given: Stall): void {
    const { slot, pid } = process;
    const stall = { ...given, slot, pid };
    process.stalls++;
    process.stalledMs += stall.duration;
    this.#stalls.add(stall);
    this.emit('stall', stall);
  }

  #didMiss(process: ClusterProcess, connection: number): void {
    if (!this.#listeners.didMiss(process, connection) || process.hasMissed) return;
    process.hasMissed = true;
    const { pid, slot } = process;
    this.#settings.log(
      `process ${pid} (slot ${slot}) did not get a connection; has it no file descriptors left?`,
    );
  }

  #tellDeath({ slot, pid }: ClusterProcess, death: Death): void {
    const { code, signal, isLate, reason } = death;
    this.#deaths++;
    if (isLate && death.wasDraining) this.#late++;
    this.#settings.log(`process ${pid} (slot ${slot}) ${describe(death)}`);
    this.emit('death', { slot, pid, code, signal, isLate, reason });
  }

  /** Reports whether a process that died is replaced. */
  #died(): boolean {
    if (this.#closing !== null) return false;
    const { crashLimit, crashWindow, log } = this.#settings;
    const now = performance.now();
    this.#crashes.record(now);
    if (this.#loopTimer === null) {
      const deaths = this.#crashes.count(now);
      // Code that has never run is given up sooner than code that has.
      if (deaths < crashLimit * (this.#hasStarted ? this.#slots.length : 1)) return true;
      const ready = this.#ready();
      log(`crash loop: ${deaths} deaths within ${crashWindow} ms, ${ready} processes are ready`);
      this.#loopTimer = setTimeout(() => {
        this.#endCrashLoop();
        for (const slot of this.#slots) slot.start();
      }, crashWindow);
      this.emit('crash-loop', { deaths, ready });
    }
    if (this.#ready() > 0) this.#started?.resolve();
    else if (this.#slots.every(({ isEmpty }) => isEmpty)) this.#giveUp();
    return false;
  }

  #endCrashLoop(): void {
    if (this.#loopTimer === null) return;
    clearTimeout(this.#loopTimer);
    this.#loopTimer = null;
    this.#crashes.clear();
  }

  /** Gives up: no process is left, and a new one would not live. */
  #giveUp(): void {
    const message = 'no process is left, and new ones die; what they wrote to stderr says why';
    this.#started?.reject(new MillraceError('MILLRACE_E_WORKER', message));
    const wasStarting = !this.#hasStarted;
    void this.#close().then(() => {
      if (wasStarting || !this.#settings.signals) return;
      this.#settings.log(message);
      process.exit(1);
    });
  }
}

const statusOf = (ready: number, wanted: number) =>
  ready === 0 ? 'down' : ready < wanted ? 'degraded' : 'ok';
