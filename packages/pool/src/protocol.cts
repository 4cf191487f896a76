/**
 * Memory that the main thread and a worker share, and their messages.
 *
 * The board is memory of both: for each task that was sent, who has it and when it ran. A task is sent ahead of its turn, so both
 * may want it: the worker to run it, the main thread to take it back (aborted, or another worker is free). Whoever changes its
 * word from WAITING has it; neither asks the other.
 *
 * Messages are arrays, for they are cheaper to clone than objects: `Start` is the first one to a worker, `Batch` and `Stop` go
 * to it, `Reply` and texts come from it.
 */
import type { MessagePort } from 'node:worker_threads';
import { hrtime, performance } from '@millrace/base/timers';

// ------------------------------------------------------------------------------------------------ the board

/** Sent, not begun. */
export const WAITING = 0;
/** The worker runs it. */
export const RUNNING = 1;
/** The worker runs it, and its function has asked for its signal: it may be asked to stop. */
export const LISTENING = 2;
/** State: it was asked to stop. */
export const STOPPING = 3;
/** State: it has ended; its result may not have left the worker yet. */
export const ENDED = 4;
/** The main thread has taken it back. */
export const REVOKED = 5;
/** The worker is about to be ended because of it: if the task ends before that, no other begins. */
export const CONDEMNED = 6;

/** Tasks that may be with a worker; a power of 2, so that a number is a place by its low bits. */
export const places = 1024;
export const placeMask = places - 1;

export interface Board {
  readonly words: Int32Array;
  /** Time of its beginning, in ms by the clock of the main thread. */
  readonly startedMs: Float64Array;
  /** Run time in ms. */
  readonly tookMs: Float64Array;
  /** Word with the worker's thread id of the system; 0 if unknown. */
  readonly systemThread: Int32Array;
}

const wordBytes = places * Int32Array.BYTES_PER_ELEMENT;
const timeBytes = places * Float64Array.BYTES_PER_ELEMENT;

export const newBoard = (): SharedArrayBuffer =>
  new SharedArrayBuffer(wordBytes + 2 * timeBytes + Int32Array.BYTES_PER_ELEMENT);

export function boardOf(memory: SharedArrayBuffer): Board {
  return {
    words: new Int32Array(memory, 0, places),
    startedMs: new Float64Array(memory, wordBytes, places),
    tookMs: new Float64Array(memory, wordBytes + timeBytes, places),
    systemThread: new Int32Array(memory, wordBytes + 2 * timeBytes, 1),
  };
}

/** Returns how far this thread's `performance.now()` is behind the system's clock, in ms: it starts at 0 with the thread. */
export const clockOffsetMs = (): number => Number(hrtime()) / 1e6 - performance.now();

// ------------------------------------------------------------------------------------------------ messages

/** The first message to a worker, on its own port. */
export interface Start {
  readonly port: MessagePort;
  readonly board: SharedArrayBuffer;
  /** Tasks that may run at a time. */
  readonly concurrency: number;
  /** The file and the export that are loaded before the worker says that it is ready; null for none. */
  readonly preload: readonly [filename: string, name: string] | null;
  readonly niceIncrement: number;
  /** Lag in ms of the main thread's clock behind the system's: workers report times by the main thread's clock. */
  readonly clockOffsetMs: number;
}

/** Definition of a function that a worker has not run yet. */
export type Definition = readonly [filename: string, name: string];

/** A worker that has been told this many forgets them all at the next one; the main thread then forgets that it told them. */
export const maxDefinitions = 1000;

/** Origin of a task with an id, or a number of deliveries: how often it was begun before, and those two. */
export type Origin = readonly [attempts: number, id: string | null, delivery: number | null];

/** Tasks for a worker, numbered from `first`. All are for one function. */
export type Batch = readonly [
  first: number,
  functionId: number,
  tasks: readonly unknown[],
  /** Earlier runs of each, and the rest of its context; null if there are none. */
  origins: readonly (number | Origin)[] | null,
  /** True if some may be ended by ending the worker: finished results have to leave before one of them begins. */
  guarded: boolean,
  /** Null if the worker has been told already. */
  definition: Definition | null,
  /** Longest time between two sends of results, in ms. */
  replyMs: number,
];

/** Tells the function of a task that is LISTENING to stop. */
export type Stop = number;

/** Reasons why a task failed: its function threw; its function cannot be loaded; its result cannot be cloned. */
export const THREW = 0;
export const NO_FUNCTION = 1;
export const NOT_CLONABLE = 2;

export type Failure = readonly [
  index: number,
  kind: typeof THREW | typeof NO_FUNCTION | typeof NOT_CLONABLE,
  error: unknown,
  /** Properties of the error that cloning drops. */
  properties: Record<string, unknown> | null,
];

/** Results of tasks: of those from a number on, or of those with these numbers. */
export type Reply = readonly [
  tasks: number | readonly number[],
  results: readonly unknown[],
  failures: readonly Failure[] | null,
];

/** A worker has started. Any other text: why it cannot read what it was sent. */
export const READY = 'ready';

/** Name that asks whether the file can be loaded and has a function at all. */
export const anyFunction = '*';

// ------------------------------------------------------------------------------------------------ this thread

/**
 * State of this thread: whether it is a worker of a pool, and the `workerData` of that pool. Set by a worker before anything
 * of the user's is loaded. It belongs to the thread, not to the module: compilers that hook `require()` load a copy of the
 * module of their own.
 */
interface State {
  isWorkerThread: boolean;
  workerData: unknown;
}

const key: unique symbol = Symbol.for('millrace.pool') as never;
const owner = globalThis as { [key]?: State };

owner[key] ??= { isWorkerThread: false, workerData: undefined };
export const state: State = owner[key];
