import { median } from '../stats/index.js';
import { arms } from './arms.js';

/** A server that uses less of its core under a load without limit waits for something else. */
const BUSY = 0.85;

/** A median latency that only a queue explains. */
const QUEUE_MS = 100;

/**
 * Notes on these figures, a sentence each.
 *
 * @param {Awaited<ReturnType<import('./experiment.js').experiment>>} results
 * @param {{ server: number } | null} cores
 * @returns {string[]}
 */
export function notes({ capacity, equal }, cores) {
  const all = arms.flatMap((arm) => [...capacity[arm], ...equal[arm]]);
  const found = [];
  if (cores === null) {
    found.push('Server and load generator were not pinned to separate cores: read with care.');
  }
  const saturated = all.filter(({ report }) => report.saturated);
  if (saturated.length > 0) {
    found.push(
      `The load generator was short of CPU in ${saturated.length} of ${all.length} runs: their latencies are partly its own.`,
    );
  }
  for (const arm of arms) {
    const share = median(capacity[arm].map(({ cpuShare }) => cpuShare));
    if (share < BUSY) {
      found.push(
        `As fast as it can, ${arm} used ${Math.round(share * 100)} % of its core: the rest of the time it waited, for the disk or for CPU that others used.`,
      );
    }
    if (median(equal[arm].map(({ report }) => report.latency.p50)) > QUEUE_MS) {
      found.push(
        `At the same load ${arm} did not keep up: its latency is that of a queue. Is the machine busy?`,
      );
    }
  }
  found.push(
    all.every(({ writesBy }) => writesBy === 'kernel')
      ? 'System writes are counted by the kernel: sockets, database and all else.'
      : "The kernel does not show system writes here; these are the server's own count of socket writes.",
  );
  return found;
}
