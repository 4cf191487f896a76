import type { Policy } from './policy.js';

/** A batch is held until it is full or `maxDelay` has passed since its oldest event: a predictable cadence. */
export const fixed: Policy = (_signals, config, state) => ({
  hold: config.maxDelay,
  limit: config.maxBatch,
  state,
});
