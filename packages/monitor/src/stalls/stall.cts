/** Shared types of the watchdog, the main thread, logs and probes. Plain data, which threads can send. */

/**
 * State of the main thread for most of the stall. computing: on a CPU. starved: ready to run, but without a CPU.
 * parked: asleep, in a system call or for memory. unknown: not reported by the system, as outside Linux.
 */
export type StallState = 'computing' | 'starved' | 'parked' | 'unknown';

/** Times of a thread in ms, since its start. */
export interface ThreadTimes {
  readonly cpu: number;
  /** Time ready to run, without a CPU. */
  readonly starved: number;
}

/** Line of a stack, after source maps if Node.js has them on. */
export interface StallFrame {
  /** Name of the function; `(anonymous)` without one. */
  readonly function: string;
  /** Path, relative to the working folder if it is inside it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Stall of the event loop, current or past. Times are in ms. */
export interface Stall {
  /** Number of the stall in this process, from 1. */
  readonly id: number;
  /** Time of day at its beginning, in ms since 1970. */
  readonly startedAt: number;
  /** Duration, so far or in total: at least this long, up to two `interval`s longer. Time in which the process was stopped does not count. */
  readonly duration: number;
  readonly isOver: boolean;
  readonly state: StallState;
  /** CPU time of the main thread during the stall; null outside Linux. */
  readonly cpu: number | null;
  /** Time in the stall for which the main thread waited for a CPU; null outside Linux. */
  readonly starved: number | null;
  /** Name of the system call of a parked thread for most of the time, `read` or `futex`; null if it was in none. */
  readonly systemCall: string | null;
  /** Innermost line of JavaScript outside Node.js in most samples; null if no sample has one. */
  readonly at: StallFrame | null;
  /** Function of Node.js or V8 called by this line, such as `RegExp.test`; null if the line itself runs. */
  readonly builtin: string | null;
  /** Innermost line of the application, if `at` is in a package that it uses; else null. */
  readonly caller: StallFrame | null;
  /** Stack of most samples, innermost first; at most 16 lines. */
  readonly stack: readonly StallFrame[];
  /**
   * Grounds for `at`. during: the stack was taken from running JavaScript. after: it was taken when native code returned, so the
   * call is at this line or just before it.
   */
  readonly seen: 'during' | 'after' | null;
  /** Number of samples. */
  readonly samples: number;
  /** Number of samples with `at`. */
  readonly agreeing: number;
  /** Sentence with all of this. */
  readonly summary: string;
}

/** Stall of a worker thread: it has not paused for too long. Its `cpu`, `starved` and `state` are those since the watch noticed. */
export interface WorkerStall extends Stall {
  /** Thread id, and file of the worker; null until it is known. */
  readonly worker: { readonly id: number; readonly file: string | null };
  /** Task of a pool that it runs: function, file, and usual time in ms; null without one. */
  readonly task: {
    readonly name: string;
    readonly file: string;
    readonly usual: number | null;
  } | null;
}

/** Address of the probes, and the blocked times in ms after which they fail. */
export interface ProbeSettings {
  readonly host: string;
  readonly port: number;
  readonly readyAfter: number;
  readonly liveAfter: number;
}

/** Options of the watchdog, complete. */
export interface WatchdogSettings {
  readonly limit: number;
  readonly interval: number;
  readonly log: 'text' | 'json' | false;
  readonly linesPerMinute: number;
  readonly workers: number | false;
  readonly probes: ProbeSettings | null;
}

/** Settings without options. */
export const usual: WatchdogSettings = {
  limit: 100,
  interval: 100,
  log: 'text',
  linesPerMinute: 30,
  workers: 2000,
  probes: null,
};

/** Start message of the watchdog. */
export interface WatchdogStart extends WatchdogSettings {
  /** Shared memory with {@link ANSWERED} and the other words. */
  readonly words: Int32Array;
  readonly port: import('node:worker_threads').MessagePort;
  /** Folder of the main thread in /proc; null if there is none. */
  readonly thread: string | null;
  readonly cwd: string;
  /** Number of the first stall. */
  readonly firstId: number;
  /** False for the replacement of a watchdog that ended: the loop has turned before. */
  readonly isFirst: boolean;
}

/** Index of the word with the number of the last heartbeat that the main thread has answered. */
export const ANSWERED = 0;
/** Index of the word that is 0 while the application wants no requests. */
export const READY = 1;

/** Message from the watchdog to the main thread. A number is a heartbeat. */
export type ToMain =
  | number
  | { readonly stall: Stall }
  | { readonly probes: { readonly host: string; readonly port: number } }
  | { readonly why: string };

/** Message from the main thread: a sample, with the number of its question and the time at which it was taken. */
export interface ToWatchdog {
  readonly number: number;
  /** Monotonic time in ms, which all threads share. */
  readonly at: number;
  readonly times: ThreadTimes | null;
  /** Null: there are no stacks in this program. */
  readonly stack: string | null;
  /** True if the inspector listens for a debugger, as with --inspect. */
  readonly isInspected: boolean;
}
