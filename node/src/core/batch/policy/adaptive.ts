import { holdsOnRecord } from '../estimate/gain.js';
import type { Policy, PolicyState } from './policy.js';

/** Below this busy share the loop has time to spare, and a hold only adds latency. */
const busyFrom = 0.6;
/** At this busy share and above the whole of `maxDelay` is used. */
const busyFull = 0.9;
/** Fewer expected or gained events a batch than this, and a hold costs more than it saves. */
const worthwhile = 0.5;
const backoffMs = { first: 1000, longest: 60_000 };

/**
 * Holds a batch only when the loop is busy, more is expected for a destination of the batch, and the user allowed a
 * delay. Watches what holding brings and switches it off, with exponential back-off, when it brings nothing.
 */
export const adaptive: Policy = (signals, config, state, now) => {
  const { maxDelay, maxBatch: limit } = config;
  if (maxDelay === 0) return { hold: 0, limit, state };
  const next = config.hold === 'always' ? state : tune(signals.gain, signals.holds, state, now);
  const off = config.hold !== 'always' && now < next.offUntil;
  if (off || signals.utilization < busyFrom || signals.rate * maxDelay < worthwhile) {
    return { hold: 0, limit, state: next };
  }
  const share = Math.min(1, (signals.utilization - busyFrom) / (busyFull - busyFrom));
  return { hold: maxDelay * share, limit, state: next };
};

function tune(gain: number, holds: number, state: PolicyState, now: number): PolicyState {
  if (now < state.offUntil || holds < holdsOnRecord) return state;
  if (gain >= worthwhile) {
    return state.backoff === backoffMs.first ? state : { ...state, backoff: backoffMs.first };
  }
  return {
    offUntil: now + state.backoff,
    backoff: Math.min(state.backoff * 2, backoffMs.longest),
  };
}
