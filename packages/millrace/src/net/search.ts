/**
 * Finds the handles of sockets in the loop. JavaScript knows them by their descriptors alone, and to find one is to look
 * at all handles: so all sockets of a turn are searched for together, at its end, and in a loop with thousands of handles
 * those of a few turns.
 */
import { performance, setTimeout } from '@millrace/base/timers';
import { atTurnEnd } from '@millrace/base/turn';
import type { EnlargeBinding } from '../native/binding.js';
import { type ReadOptions, readOptionCount } from './read-options.js';

export interface Sought {
  readonly options: ReadOptions;
  /** Descriptor of the socket as it is now; below 0: nothing to look for. */
  descriptor(): number;
  /** A place of the addon, or an error, which is below 0, also where there was nothing to look for. */
  found(place: number): void;
}

/** The share of the time that searches may take, and for how long at most (ms) one is put off to keep to it. */
const share = 0.02;
const longest = 100;

let waiting: Sought[] = [];
let due = 0;

/** Calls `sought.found()` at the end of this turn, or later if there are so many handles that a search takes long. */
export function seek(binding: EnlargeBinding, sought: Sought): void {
  if (waiting.push(sought) > 1) return;
  const delay = Math.min(due - performance.now(), longest);
  if (delay < 1) atTurnEnd(() => search(binding));
  else setTimeout(search, delay, binding).unref();
}

function search(binding: EnlargeBinding): void {
  const sought = waiting;
  waiting = [];
  const places = new Int32Array(sought.length).fill(-1);
  try {
    find(binding, sought, places);
  } finally {
    // Even when the addon throws: whoever is not told that nothing was found would never ask again.
    for (const [i, each] of sought.entries()) each.found(places[i]!);
  }
}

function find(binding: EnlargeBinding, sought: readonly Sought[], places: Int32Array): void {
  const descriptors = Int32Array.from(sought, (each) => each.descriptor());
  if (!descriptors.some((descriptor) => descriptor >= 0)) return;
  const options = new Float64Array(sought.length * readOptionCount);
  for (const [i, each] of sought.entries()) options.set(each.options, i * readOptionCount);
  const start = performance.now();
  binding.enlargeFind(descriptors, options, places);
  due = start + (performance.now() - start) / share;
}
