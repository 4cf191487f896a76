import type { Policy } from './policy.js';

/** No batching: each event is a batch of its own. The control arm of a measurement, and a kill switch. */
export const direct: Policy = (_signals, _config, state) => ({ hold: 0, limit: 1, state });
