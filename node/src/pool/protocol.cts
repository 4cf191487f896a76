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
  /** How far the main thread's clock is behind the system's, in ms: workers report times by the main thread's clock. */
  readonly clockOffsetMs: number;
  /** Each task comes with what the context of a durable task says. */
  readonly isDurable: boolean;
}

/** How a worker is told of a function that it has not run yet. */
export type Definition = readonly [filename: string, name: string];

/** A worker that has been told this many forgets them all at the next one; the main thread then forgets that it told them. */
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
  /** Null if the worker has been told already. */
  definition: Definition | null,
  /** How often results leave at the least, in ms. */
  replyMs: number,
];

/** Tells the function of a task that is LISTENING to stop. */
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
