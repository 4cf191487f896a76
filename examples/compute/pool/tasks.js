/** Functions for the workers of the pool. Each says how many ms it took; those that are parts of something, of a core's time. */
import { closeSync, openSync, readSync } from 'node:fs';
import { describe } from '../compute/describe.js';
import { fibonacciPair } from '../compute/fibonacci.js';
import * as rsa from '../compute/rsa.js';
import { cpuStopwatch, stopwatch } from '../compute/stopwatch.js';
import * as batch from '../records/batch.js';
import * as text from '../text/count.js';
import { move } from './index.js';

const READ_BYTES = 256 * 1024;

/**
 * Ends a computation that nobody waits for any more: `aborted` is seen from within a loop, too. A task that has never looked
 * at it would be ended together with its thread.
 */
const stopper = (context) => () => {
  if (context?.aborted) throw new DOMException('The task was aborted.', 'AbortError');
};

export function fibonacci({ n, algorithm, full }, context) {
  const ms = stopwatch();
  const [number] = fibonacciPair(n, algorithm, stopper(context));
  const computeMs = ms();
  return { ...describe(number, { full }), computeMs, writeMs: ms() };
}

export function base({ n, algorithm }, context) {
  const ms = cpuStopwatch();
  const [number] = fibonacciPair(n, algorithm, stopper(context));
  return { number, ms: ms() };
}

export function factors({ k, algorithm }, context) {
  const ms = cpuStopwatch();
  return { ...rsa.factors(k, algorithm, stopper(context)), ms: ms() };
}

export function power({ base, exponent, modulus }, context) {
  const ms = cpuStopwatch();
  return { number: rsa.power(base, exponent, modulus, stopper(context)), ms: ms() };
}

export function combine({ full, ...parts }, context) {
  stopper(context)();
  const ms = cpuStopwatch();
  const number = rsa.combine(parts);
  const combineMs = ms();
  return { ...describe(number, { full }), combineMs, writeMs: ms() };
}

export function summarizeRecords({ from, to }, context) {
  const ms = cpuStopwatch();
  return { ...batch.summarizeRecords(from, to, stopper(context)), ms: ms() };
}

export function writeRecords({ from, to }, context) {
  const { buffer } = batch.writeRecords(from, to, stopper(context));
  return move(new Uint8Array(buffer));
}

export function countPiece(piece, context) {
  stopper(context)();
  const ms = cpuStopwatch();
  return { ...text.count(piece), ms: ms() };
}

/** Counts the bytes of a file from `start` up to, but not including, `end`. */
export function countRange({ path, start, end }, context) {
  const ms = cpuStopwatch();
  const stop = stopper(context);
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const file = openSync(path, 'r');
  try {
    let counts = text.NONE;
    for (let at = start; at < end; ) {
      stop();
      const read = readSync(file, buffer, 0, Math.min(buffer.length, end - at), at);
      if (read === 0) throw new Error(`the file became shorter while it was read: ${path}`);
      counts = text.join(counts, text.count(buffer.subarray(0, read)));
      at += read;
    }
    return { ...counts, ms: ms() };
  } finally {
    closeSync(file);
  }
}
