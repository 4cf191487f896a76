import { KINDS } from '../settings.js';

/**
 * Sums up slots.
 *
 * @param {import('../load/slot.js').Slot[]} slots
 * @param {object} server
 * @param {number} server.capacity requests that it can do, a second
 * @param {boolean} [server.keepsCopies]
 */
export function summarize(slots, { capacity, keepsCopies = false }) {
  const seconds = sum(slots.map((slot) => slot.seconds));
  const byKind = (field) => slots.reduce((kinds, slot) => added(kinds, slot[field]), []);
  const [offered, fresh, copies, late, shed, failed] = [
    'offered',
    'fresh',
    'copies',
    'late',
    'shed',
    'failed',
  ].map(byKind);
  const perSecond = (kinds) => sum(kinds) / seconds;
  const latencies = sorted(slots.map((slot) => slot.latencies));
  const health = {
    ok: sum(slots.map((slot) => slot.health.ok)),
    failed: sum(slots.map((slot) => slot.health.failed)),
    latencies: sorted(slots.map((slot) => slot.health.latencies)),
  };
  return {
    seconds,
    offered: perSecond(offered),
    fresh: perSecond(fresh),
    copies: perSecond(copies),
    late: perSecond(late),
    shed: perSecond(shed),
    failed: perSecond(failed),
    good: perSecond(fresh) + perSecond(copies),
    ofPossible: share(
      perSecond(fresh) + perSecond(copies),
      possible(
        offered.map((count) => count / seconds),
        capacity,
        keepsCopies,
      ),
    ),
    /** Good answers of all requests that ended, by kind. */
    success: offered.map((_, kind) => {
      const good = fresh[kind] + copies[kind];
      return share(good, good + late[kind] + shed[kind] + failed[kind]);
    }),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    healthOk: share(health.ok, health.ok + health.failed),
    healthP99: percentile(health.latencies, 0.99),
  };
}

/**
 * The good answers that there could be: all that may be copies, from a server that keeps some, and of the rest as many as
 * it can do.
 */
function possible(offered, capacity, keepsCopies) {
  const free = keepsCopies ? offered.filter((_, kind) => KINDS[kind].copies) : [];
  return sum(free) + Math.min(sum(offered) - sum(free), capacity);
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

const added = (a, b) => b.map((number, at) => number + (a[at] ?? 0));

const sorted = (lists) => Float64Array.from(lists.flat()).sort();

/** Null where there is nothing to take a share or a percentile of. */
const share = (part, whole) => (whole > 0 ? part / whole : null);

/** The smallest value that at least so many of all do not exceed. */
function percentile(values, rank) {
  return values.length > 0 ? values[Math.ceil(values.length * rank) - 1] : null;
}
