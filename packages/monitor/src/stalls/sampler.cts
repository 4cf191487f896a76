/**
 * Hidden function of the main thread that reads its own stack. The watchdog evaluates it on top of the interrupted code, as
 * capture.cts says. It is loaded at the start, with all that it calls: within a stall nothing may be loaded.
 */
import { builtin } from '@millrace/base/realm';
import { hrtime } from '@millrace/base/timers';
import type { ThreadTimes, ToWatchdog } from './stall.cjs';

const { readFileSync } = builtin('node:fs');

/** Name of the hidden function, a property of `process`. */
export const key = 'millrace.stalls.sample';
export const mostFrames = 64;
const nsPerMs = 1e6;

/** Reads a file `schedstat`. */
export const timesOf = (schedstat: string): ThreadTimes => {
  const [cpu, starved] = schedstat.split(' ');
  return { cpu: Number(cpu) / nsPerMs, starved: Number(starved) / nsPerMs };
};

/** Returns the CPU times of the calling thread; null if unavailable. A wait counts when it is over, so these are exact. */
export function ownTimes(): ThreadTimes | null {
  try {
    return timesOf(readFileSync('/proc/thread-self/schedstat', 'latin1'));
  } catch {
    return null;
  }
}

/** Hides the function, in the main thread. `post` must not throw. */
export function hideSampler(post: (answer: ToWatchdog) => void): () => void {
  const holder = process as unknown as Record<symbol, ((number: number) => void) | undefined>;
  // Node.js may have been built without it.
  const url = process.features.inspector ? builtin('node:inspector').url : () => undefined;
  holder[Symbol.for(key)] = (number) => {
    const stack = stackOf(mostFrames);
    post({ number, at: now(), times: ownTimes(), stack, isInspected: url() !== undefined });
  };
  return () => {
    delete holder[Symbol.for(key)];
  };
}

/** Monotonic time in ms, which all threads share: that of `performance` begins anew in each. */
export const now = (): number => Number(hrtime() / 1000n) / 1000;

/**
 * Reads a stack; null if stacks are unavailable: with frozen intrinsics, or with accessors of the program in the way. It uses nothing of this
 * file, as worker threads evaluate its text.
 */
export function stackOf(most: number): string | null {
  const changed = ['stackTraceLimit', 'prepareStackTrace'] as const;
  const before = changed.map((name) => Object.getOwnPropertyDescriptor(Error, name));
  const [limit, prepare] = before;
  if ([limit, prepare].some((each) => each !== undefined && !('value' in each))) return null;
  if (prepare?.value !== undefined && !prepare.writable) return null;
  try {
    Reflect.set(Error, 'stackTraceLimit', most);
    if (prepare?.value !== undefined) Reflect.set(Error, 'prepareStackTrace', undefined);
    return new Error('').stack ?? null;
  } finally {
    if (prepare?.value !== undefined) Reflect.set(Error, 'prepareStackTrace', prepare.value);
    if (limit === undefined) Reflect.deleteProperty(Error, 'stackTraceLimit');
    else Reflect.set(Error, 'stackTraceLimit', limit.value);
  }
}
