import { emitting } from './emitting.js';
import { errors } from './errors.js';
import { inheritance } from './inheritance.js';
import { registration } from './registration.js';
import { statics } from './statics.js';

/**
 * What node:events documents, as a table. `run` does something with an emitter `e` and logs what it sees; `settle()` waits
 * for whatever is delivered later. `options` are those of the emitter. Where batching must differ, `adaptive` says why and
 * gives the log.
 */
export const behaviours = [...registration, ...emitting, ...errors, ...statics, ...inheritance];

/** The log of a behaviour with an emitter of this class. */
export async function observe({ run, options = {} }, Emitter, more, settle) {
  const lines = [];
  const merged = { ...options, ...more };
  await run({
    e: new Emitter(merged),
    Emitter,
    options: merged,
    log: (...line) => void lines.push(line),
    settle,
  });
  return lines;
}
