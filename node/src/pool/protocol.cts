/** What the threads say to each other. Arrays, for they are cheaper to clone than objects. */
import type { MessagePort } from 'node:worker_threads';

/** The first message to a worker, on its own port. */
export interface Start {
  readonly port: MessagePort;
  readonly board: SharedArrayBuffer;
  /** Tasks that may run at a time. */
  readonly concurrency: number;
  /** The file and the export that are loaded before the worker says that it is ready; null for none. */
  readonly preload: readonly [filename: string, name: string] | null;
  readonly niceIncrement: number;
  /** What the main thread's clock shows less than the system's, in ms: workers tell times by its clock. */
  readonly clockOffsetMs: number;
  /** Tasks come with what the contexts of durable tasks say. */
  readonly isDurable: boolean;
}

/** How a function is told to a worker that has not run it yet. */
export type Definition = readonly [filename: string, name: string];

/** When a worker has been told so many, it forgets them all at the next; and the main thread, that it has told them. */
export const maxDefinitions = 1000;

/** Tasks for a worker, numbered from `first`. All are for one function. */
export type Batch = readonly [
  first: number,
  functionId: number,
  tasks: readonly unknown[],
  /** How often each was begun before; null if none was. */
  attempts: readonly number[] | null,
  /** Some may be ended by ending the worker: what is finished has to leave before one of them begins. */
  guarded: boolean,
  /** Null if the worker has been told it. */
  definition: Definition | null,
  /** Results leave at least so often, in ms. */
  replyMs: number,
];

/** Tells the function of a task that is LISTENING. */
export type Stop = number;

/** Why a task failed: its function threw; its function cannot be had; its result cannot be cloned. */
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
