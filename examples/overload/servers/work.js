import { pbkdf2Sync } from 'node:crypto';
import { performance } from 'node:perf_hooks';

/** Synchronous work of a fixed size: native code, so that neither the JIT nor the garbage collector changes its price. */
export function work(iterations) {
  return pbkdf2Sync('overload', 'example', iterations, 16, 'sha256').toString('hex');
}

/** Number of iterations that take the given ms on this machine when nothing disturbs them. */
export function iterationsFor(ms) {
  const sample = 20_000;
  let best = Infinity;
  for (let n = 0; n < 10; n += 1) {
    const start = performance.now();
    work(sample);
    best = Math.min(best, performance.now() - start);
  }
  return Math.max(1, Math.round((sample * ms) / best));
}
