/**
 * Memory that a worker and the main thread share: for each task that was sent, who has it and when it ran. A task is sent
 * ahead of its turn, so both may want it: the worker to run it, the main thread to take it back (aborted, or another worker
 * is free). Whoever changes its word from WAITING has it; neither asks the other.
 */

/** Sent, not begun. */
export const WAITING = 0;
/** The worker runs it. */
export const RUNNING = 1;
/** The worker runs it, and its function has asked for its signal: it may be asked to stop. */
export const LISTENING = 2;
/** It was asked to stop. */
export const STOPPING = 3;
/** It has ended; its result may not have left the worker yet. */
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
  /** When it was begun, in ms by the clock of the main thread. */
  readonly startedMs: Float64Array;
  /** How long it ran, in ms. */
  readonly tookMs: Float64Array;
}

const wordBytes = places * Int32Array.BYTES_PER_ELEMENT;
const timeBytes = places * Float64Array.BYTES_PER_ELEMENT;

export const newBoard = (): SharedArrayBuffer => new SharedArrayBuffer(wordBytes + 2 * timeBytes);

export function boardOf(memory: SharedArrayBuffer): Board {
  return {
    words: new Int32Array(memory, 0, places),
    startedMs: new Float64Array(memory, wordBytes, places),
    tookMs: new Float64Array(memory, wordBytes + timeBytes, places),
  };
}
