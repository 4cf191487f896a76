/**
 * Detects stalls of the event loop and names their cause while they last.
 *
 * @module monitor/stalls
 */

/*
 * Main thread's side of the watchdog: starts it, answers its heartbeats, and tells the application about past stalls. Each process has
 * one, which all callers share.
 *
 * The watchdog is a worker thread without a reference: it ends with the process. If it dies before, it is started again once; the second
 * death turns the watch off, with the reason in `why`. Earlier results are kept here.
 *
 * millrace/auto loads this before the application, and each file takes half a millisecond of its start: the files that a start
 * without options does not need are loaded later.
 */
import { packageFile } from '@millrace/base/installed';
import { builtin, isPlainObject, otherRuntime } from '@millrace/base/realm';
import { announce } from '@millrace/base/sources';
import { thisPackage } from '../package.cjs';
import type { StallOptions } from './options.cjs';
import { hideSampler } from './sampler.cjs';
import {
  ANSWERED,
  READY,
  type Stall,
  type StallState,
  type ToMain,
  type ToWatchdog,
  usual,
  type WatchdogSettings,
  type WatchdogStart,
  type WorkerStall,
} from './stall.cjs';
import type { WorkerWatch } from './workers.cjs';

export type { ProbeOptions, StallOptions } from './options.cjs';
export type { Stall, StallFrame, StallState, WorkerStall } from './stall.cjs';
/** @internal Loaded when it is read. */
export declare const stallSchema: typeof import('./options.cjs').stallSchema;
Object.defineProperty(exports, 'stallSchema', {
  enumerable: true,
  get: () => (require('./options.cjs') as typeof import('./options.cjs')).stallSchema,
});

type Worker = import('node:worker_threads').Worker;
type MessagePort = import('node:worker_threads').MessagePort;

const { channel } = builtin('node:diagnostics_channel');
const { EventEmitter } = builtin('node:events');
const { readlinkSync } = builtin('node:fs');
const { isMainThread, MessageChannel, MessagePort, Worker } = builtin('node:worker_threads');

/** Events of a watch. */
export interface StallEvents {
  /** Emitted at the end of a stall. During a stall no listener can run; use the log and the probes then. */
  stall: [stall: Stall];
  /** Emitted when a worker thread is found blocked, and at the end of its stall (`isOver`). */
  workerStall: [stall: WorkerStall];
  /** Emitted when the probes listen. */
  probes: [address: { readonly host: string; readonly port: number }];
}

/** Counts since the start of the watch. */
export interface StallStats {
  readonly counts: Readonly<Record<StallState, number>>;
  /** Total time of those stalls in ms. */
  readonly durations: Readonly<Record<StallState, number>>;
}

/** Diagnostics channel that publishes each past stall; the message is the {@link Stall}. */
const over = channel('millrace:stall');
/** Diagnostics channel of stalls of worker threads, while they last and at their end; the message is the {@link WorkerStall}. */
const ofWorkers = channel('millrace:worker-stall');
const kept = 100;
/** Most starts of the watchdog. */
const mostStarts = 2;
/** Heap limits in MB of the watchdog's thread, which runs no code of the application. */
const heapMb = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 };

/** Key of this process's watch, shared with other copies of this package. */
const holder = process as unknown as Record<symbol, Stalls | undefined>;
const key = Symbol.for('millrace.stalls');

/**
 * Watches the event loop of the main thread, until {@link stop}. Does not keep the process alive. Made by {@link stalls}.
 *
 * @fires stall when a stall is over
 * @fires workerStall when a worker thread is found blocked, and when that is over
 * @fires probes when the probes listen
 */
export class Stalls extends EventEmitter<StallEvents> {
  /** Reason why the loop is not watched, or why there are no probes; null if all is well. */
  why: string | null = null;
  /** Address of the probes; null while they do not listen. */
  address: { readonly host: string; readonly port: number } | null = null;
  /** @internal True for a watch that ends when another one is requested, as that of millrace/auto does. */
  givesWay = false;

  readonly #settings: WatchdogSettings;
  readonly #words = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #recent: Stall[] = [];
  readonly #counts = { computing: 0, starved: 0, parked: 0, unknown: 0 };
  readonly #durations = { computing: 0, starved: 0, parked: 0, unknown: 0 };
  #starts = 0;
  #lastId = 0;
  /** Reason for the end of the watchdog. */
  #failure = 'the watchdog has ended';
  #worker: Worker | null = null;
  #port: MessagePort | null = null;
  #unhide: (() => void) | null = null;
  #workers: WorkerWatch | null = null;

  /** @internal */
  constructor(settings: WatchdogSettings) {
    super();
    this.#settings = settings;
    this.#words[READY] = 1;
    const { postMessage } = MessagePort.prototype;
    this.#unhide = hideSampler((answer: ToWatchdog) => {
      if (this.#port !== null) Reflect.apply(postMessage, this.#port, [answer]);
    });
    this.#start();
    if (settings.workers !== false) process.on('worker', this.#watchWorkers);
    announce('stalls', this as Stalls, (each) => each.stats());
  }

  /** Begins to watch the workers of the application with the first of them. */
  readonly #watchWorkers = (first: Worker): void => {
    if (first === this.#worker) return;
    process.off('worker', this.#watchWorkers);
    const { workers, log, linesPerMinute } = this.#settings;
    const files = this.#load();
    if (files === null) return;
    const { Log, WorkerWatch } = files;
    const lines = new Log(log, linesPerMinute);
    const isOwn = (worker: Worker): boolean => worker === this.#worker;
    this.#workers = new WorkerWatch(workers as number, isOwn, (stall) => {
      lines.stall(stall);
      if (ofWorkers.hasSubscribers) ofWorkers.publish(stall);
      this.emit('workerStall', stall);
    });
    this.#workers.add(first);
  };

  /** Loads the files for workers; null with the reason in `why` if that fails, as where the package was removed meanwhile. */
  #load(): (typeof import('./report.cjs') & typeof import('./workers.cjs')) | null {
    try {
      // Node.js would end the process, as it looks into it for each file.
      if (process.env === undefined) throw new Error('the application has deleted process.env');
      return { ...require('./report.cjs'), ...require('./workers.cjs') };
    } catch (error) {
      this.why = `worker threads are not watched: ${(error as Error).message}`;
      return null;
    }
  }

  /** Last hundred past stalls, oldest first. */
  recent(): Stall[] {
    return [...this.#recent];
  }

  stats(): StallStats {
    return { counts: { ...this.#counts }, durations: { ...this.#durations } };
  }

  /** Sets whether the application wants requests, for `/ready`: for example false at the beginning of a shutdown. True at first. */
  ready(isReady: boolean): void {
    Atomics.store(this.#words, READY, isReady ? 1 : 0);
  }

  /** Ends the watch and its probes; past results can still be read. Idempotent. */
  stop(): void {
    if (holder[key] === this) delete holder[key];
    this.#unhide?.();
    this.#unhide = null;
    process.off('worker', this.#watchWorkers);
    this.#workers?.stop();
    this.#workers = null;
    this.#release();
  }

  #release(): void {
    this.address = null;
    this.#port?.close();
    this.#port = null;
    const worker = this.#worker;
    this.#worker = null;
    worker?.removeAllListeners('exit');
    void worker?.terminate();
  }

  #start(): void {
    this.#starts++;
    const { port1, port2 } = new MessageChannel();
    const workerData: WatchdogStart = {
      ...this.#settings,
      words: this.#words,
      port: port2,
      thread: mainThread(),
      cwd: process.cwd(),
      firstId: this.#lastId + 1,
      isFirst: this.#starts === 1,
    };
    const worker = new Worker(packageFile(thisPackage, 'dist/stalls/watchdog.cjs', 'stalls()'), {
      workerData,
      transferList: [port2],
      name: 'millrace-stalls',
      // Without the application's preloads and options, of which millrace/auto is one.
      argv: [],
      execArgv: [],
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: heapMb,
    });
    worker.on('error', (error: Error) => {
      this.#failure = `the watchdog has failed: ${error.message}`;
    });
    worker.on('exit', () => this.#died());
    worker.unref();
    port1.on('message', (message: ToMain) => this.#received(message));
    port1.unref();
    this.#worker = worker;
    this.#port = port1;
  }

  #died(): void {
    this.#release();
    if (this.#starts < mostStarts) this.#start();
    else this.why = this.#failure;
  }

  #received(message: ToMain): void {
    if (typeof message === 'number') Atomics.store(this.#words, ANSWERED, message);
    else if ('stall' in message) this.#ended(message.stall);
    else if ('why' in message) this.why = message.why;
    else {
      this.address = message.probes;
      this.emit('probes', message.probes);
    }
  }

  #ended(stall: Stall): void {
    this.#lastId = stall.id;
    this.#counts[stall.state]++;
    this.#durations[stall.state] += stall.duration;
    this.#recent.push(stall);
    if (this.#recent.length > kept) this.#recent.shift();
    if (over.hasSubscribers) over.publish(stall);
    this.emit('stall', stall);
  }
}

/** Folder of the main thread in /proc. */
function mainThread(): string | null {
  try {
    return `/proc/${readlinkSync('/proc/thread-self')}`;
  } catch {
    return null;
  }
}

/** Returns the present watch of this process; null without one. Starts nothing. */
export function presentWatch(): Stalls | null {
  return holder[key] ?? null;
}

/**
 * Begins to watch the event loop of the main thread, from a thread of its own. Without options it returns the present watch, if there is
 * one. An idle loop costs about 0.2 % of a CPU, the thread some 10 MB of memory.
 *
 * @throws {MillraceError} `MILLRACE_E_INVALID_OPTION` for a name it does not know, a value out of range, and options when there is a watch
 * already; `MILLRACE_E_RUNTIME` in a worker thread, under the permission model, and on Bun and Deno
 */
export function stalls(options?: StallOptions): Stalls {
  const present = holder[key];
  if (present !== undefined) {
    if (options === undefined) return present;
    if (!present.givesWay) throw secondWatch();
  }
  const why = obstacle();
  if (why !== null) {
    const { MillraceError } =
      require('@millrace/base/errors') as typeof import('@millrace/base/errors');
    throw new MillraceError('MILLRACE_E_RUNTIME', `stalls(): ${why}`);
  }
  const settings = settingsOf(options);
  present?.stop();
  const watch = new Stalls({ ...settings, probes: ownPort(settings.probes) });
  holder[key] = watch;
  return watch;
}

function secondWatch(): Error {
  const { fault } = require('@millrace/base/options') as typeof import('@millrace/base/options');
  return fault(
    'stalls()',
    'there is a watch in this process already; call it without options to get that, or stop() it before',
  );
}

/** The parser of options is loaded where there are some. */
function settingsOf(options: StallOptions | undefined): WatchdogSettings {
  const isEmpty = options === undefined || options === null;
  if (isEmpty || (isPlainObject(options) && Object.keys(options).length === 0)) return usual;
  const { stallOptions } = require('./options.cjs') as typeof import('./options.cjs');
  return stallOptions(options);
}

/** Returns the reason why the loop cannot be watched here. */
function obstacle(): string | null {
  if (otherRuntime !== null) return `${otherRuntime} cannot be watched, only Node.js`;
  if (!isMainThread) return 'it watches the main thread; call it there, not in a worker thread';
  // Connecting to the main thread ends some releases of Node.js under it.
  if ('permission' in process && process.permission !== undefined) {
    return 'the permission model is on, which forbids to look at the main thread from another one';
  }
  return null;
}

/** Processes of a cluster must not share the port: a probe asks one process. */
function ownPort(probes: WatchdogSettings['probes']): WatchdogSettings['probes'] {
  if (probes === null || probes.port === 0) return probes;
  const { worker } = builtin('node:cluster') as unknown as typeof import('node:cluster').default;
  return worker === undefined ? probes : { ...probes, port: probes.port + worker.id };
}
