/** Checks that a run counts. */
import { Refused } from './refused.js';

const wrong = ['duplicated', 'reordered', 'corrupt', 'closed_early', 'errors'];
const missing = { all: ['lost', 'unsent'], behind: ['lost_in_gaps'] };

/**
 * Checks that an arm did all of the work: otherwise arms cannot be compared.
 *
 * @param {string} name of the case
 * @param {string} arm
 * @param {object} report of the generator
 * @param {boolean} [mayBeBehind] messages beyond the capacity may still be in progress, but none may be lost
 */
export function refuseFaults(name, arm, report, mayBeBehind = false) {
  const faults = [...wrong, ...(mayBeBehind ? missing.behind : missing.all)];
  const found = faults.filter((fault) => report[fault] > 0);
  if (report.delivered === 0) throw new Refused(`in '${name}' ${arm} delivered nothing`);
  if (found.length === 0) return;
  const list = found.map((fault) => `${fault} ${report[fault]}`).join(', ');
  throw new Refused(
    `in '${name}' ${arm} did not deliver all of its ${report.expected} messages in order and whole: ` +
      `${list}${report.first_fault ? ` (${report.first_fault})` : ''}`,
  );
}

/** Checks that batching is on; an arm without it is evident from its code. */
export function refuseUnbatched(name, arm, { deliveries, writes }) {
  if (deliveries > writes) return;
  throw new Refused(`in '${name}' ${arm} wrote ${deliveries} messages in ${writes} writes`);
}

/** Checks that the forced backend is the one in use. */
export function refuseBackend(name, arm, { backend }, forced) {
  if (backend === forced) return;
  throw new Refused(`in '${name}' ${arm} wrote by ${backend}`);
}

/** Returns the share of the offered deliveries that arrived within the run; 1 in a closed loop. */
export function shareDelivered(report, { deliveriesRate }) {
  if (deliveriesRate === undefined) return 1;
  return report.msgs_per_s / deliveriesRate;
}

/**
 * Returns notes of a case. A generator at its limit makes the faster arm look slower than it is.
 *
 * @param {string} name of the case
 * @param {Record<string, any>[]} rounds
 * @returns {string[]}
 */
export function noteGenerator(name, rounds) {
  return Object.keys(rounds[0]).flatMap((arm) => {
    const saturated = rounds.filter((round) => round[arm].report.saturated);
    if (saturated.length === 0) return [];
    return [
      `${name}: the generator was the limit in ${saturated.length} of ${rounds.length} rounds of ` +
        `${arm} (${saturated[0][arm].report.saturated_why})`,
    ];
  });
}
