import { GOOD_MS, KINDS } from '../settings.js';

/** Counts by kind of request: `counts[0]` is of the most important one. */
const zeros = () => KINDS.map(() => 0);

/**
 * Counts of a piece of time. Requests are counted under `offered` when they were due, and under one of the others
 * when they ended.
 */
export class Slot {
  seconds = 0;
  offered = zeros();
  /** 200 within GOOD_MS, computed for this request. */
  fresh = zeros();
  /** 200 within GOOD_MS, a copy: it has an Age. */
  copies = zeros();
  /** 200, but later. */
  late = zeros();
  /** 503. */
  shed = zeros();
  /** The client gave up, the connection broke, or another status. */
  failed = zeros();
  /** Latencies of the 200s, ms. */
  latencies = [];
  health = { ok: 0, failed: 0, latencies: [] };

  /** @param {{ status: number, age?: string }} [answer] none: the client gave up or the connection broke */
  count(kind, answer, ms) {
    if (answer?.status === 200) {
      this.latencies.push(ms);
      this[ms > GOOD_MS ? 'late' : answer.age === undefined ? 'fresh' : 'copies'][kind] += 1;
    } else {
      this[answer?.status === 503 ? 'shed' : 'failed'][kind] += 1;
    }
  }

  countHealth(answer, ms) {
    this.health[answer?.status === 200 ? 'ok' : 'failed'] += 1;
    this.health.latencies.push(ms);
  }
}
