/** Whether a run counts. */
import { Refused } from '../lib/bench.js';

const faults = ['lost', 'duplicated', 'reordered', 'corrupt', 'closed_early', 'unsent', 'errors'];

/** Arms that did not do the same work cannot be compared. */
export function refuseFaults(name, policy, report) {
  const found = faults.filter((fault) => report[fault] > 0);
  if (report.delivered === 0) throw new Refused(`in '${name}' ${policy} delivered nothing`);
  if (found.length === 0) return;
  const list = found.map((fault) => `${fault} ${report[fault]}`).join(', ');
  throw new Refused(
    `in '${name}' ${policy} did not deliver all of its ${report.expected} messages in order and whole: ` +
      `${list}${report.first_fault ? ` (${report.first_fault})` : ''}`,
  );
}

/** The feature must be seen to be on; that the direct arm has none is plain from its code. */
export function refuseUnbatched({ deliveries_per_write: perWrite }) {
  if (perWrite > 1) return;
  throw new Refused(`in the closed case the adaptive server wrote ${perWrite} messages at once`);
}

/** The share of the offered deliveries that arrived while they were offered; 1 in a closed loop. */
export function shareDelivered(report, { deliveriesRate }) {
  if (deliveriesRate === undefined) return 1;
  return report.msgs_per_s / deliveriesRate;
}

/** A generator that was the limit makes the faster arm look slower than it is. */
export function noteGenerator(bench, name, samples) {
  for (const policy of Object.keys(samples[0])) {
    const saturated = samples.filter((round) => round[policy].report.saturated);
    if (saturated.length === 0) continue;
    bench.note(
      `${name}: the generator was the limit in ${saturated.length} of ${samples.length} rounds of ` +
        `${policy} (${saturated[0][policy].report.saturated_why})`,
    );
  }
}
