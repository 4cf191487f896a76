/** A stall of the event loop as all sides know it: the watchdog, the main thread, logs and probes. Plain data, which threads can send. */

/**
 * State of the main thread for most of the stall. computing: on a CPU. starved: ready to run, but other threads had the CPU.
 * parked: asleep, in a system call or for memory. unknown: the system does not say, as outside Linux.
 */
export type StallState = 'computing' | 'starved' | 'parked' | 'unknown';

/** Times of a thread in ms, since its start. */
export interface ThreadTimes {
  readonly cpu: number;
  /** Ready to run, without a CPU. */
  readonly starved: number;
}

/** A line of a stack, after source maps if Node.js has them on. */
export interface StallFrame {
  /** Name of the function; `(anonymous)` without one. */
  readonly function: string;
  /** Path, relative to the working folder if it is inside it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One stall, while it lasts or when it is over. Times are in ms. */
export interface Stall {
  /** Number of the stall in this process, from 1. */
  readonly id: number;
  /** Time of day at its beginning, in ms since 1970. */
  readonly startedAt: number;
  /** Duration so far, or of all of it: at least this long, up to one `interval` longer. Time in which the process was stopped does not count. */
  readonly duration: number;
  readonly isOver: boolean;
  readonly state: StallState;
  /** CPU time of the main thread meanwhile; null outside Linux. */
  readonly cpu: number | null;
  /** Time for which the main thread waited for a CPU; null outside Linux. */
  readonly starved: number | null;
  /** Name of the system call that a parked thread was in most of the time, `read` or `futex`; null if it was in none. */
  readonly systemCall: string | null;
  /** The innermost line of JavaScript outside Node.js that most samples have; null if no sample has one. */
  readonly at: StallFrame | null;
  /** The function of Node.js or V8 that this line has called, such as `RegExp.test`; null if the line itself runs. */
  readonly builtin: string | null;
  /** The innermost line of the application, if `at` is in a package that it uses; else null. */
  readonly caller: StallFrame | null;
  /** The stack that most samples have, innermost first; at most 16 lines. */
  readonly stack: readonly StallFrame[];
  /**
   * Grounds for `at`. during: the stack was taken from running JavaScript. after: it was taken when native code returned, so the
   * call is at this line or just before it.
   */
  readonly seen: 'during' | 'after' | null;
  /** Stacks taken. */
  readonly samples: number;
  /** Stacks that have `at`. */
  readonly agreeing: number;
  /** All of this as a sentence. */
  readonly summary: string;
}

/** Address of the probes, and the blocked times in ms after which they fail. */
export interface ProbeSettings {
  readonly host: string;
  readonly port: number;
  readonly readyAfter: number;
  readonly liveAfter: number;
}

/** Options as the watchdog uses them. */
export interface WatchdogSettings {
  readonly limit: number;
  readonly interval: number;
  readonly log: 'text' | 'json' | false;
  readonly linesPerMinute: number;
  readonly probes: ProbeSettings | null;
}

/** Start message of the watchdog. */
export interface WatchdogStart extends WatchdogSettings {
  /** {@link ANSWERED} and the other words. */
  readonly words: Int32Array;
  readonly port: import('node:worker_threads').MessagePort;
  /** Folder of the main thread in /proc; null where there is none. */
  readonly thread: string | null;
  readonly cwd: string;
  /** Number of the first stall. */
  readonly firstId: number;
  /** False for a watchdog in the place of one that has ended: the loop has turned before. */
  readonly isFirst: boolean;
}

/** Index of the word with the number of the last heartbeat that the main thread has answered. */
export const ANSWERED = 0;
/** Index of the word that is 0 while the application does not want to be ready. */
export const READY = 1;

/** From the watchdog to the main thread. A number is a heartbeat. */
export type ToMain =
  | number
  | { readonly stall: Stall }
  | { readonly probes: { readonly host: string; readonly port: number } }
  | { readonly why: string };

/** From the main thread: a sample, with the number of its question, and when it was taken. */
export interface ToWatchdog {
  readonly number: number;
  /** Monotonic time in ms, which all threads share. */
  readonly at: number;
  readonly times: ThreadTimes | null;
  /** Null: there are no stacks in this program. */
  readonly stack: string | null;
}
