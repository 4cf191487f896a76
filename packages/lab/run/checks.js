/** The last messages of a load fall due just before its end or just after. */
const DUE_TOLERANCE = 0.01;

/** Numbers in a frame grow with the run. */
const BYTES_TOLERANCE = 0.02;

/**
 * Returns the faults of a run, a sentence each: every message that was sent has to be saved,
 * acknowledged and delivered to every member, once and in order, by the arm that was asked for.
 *
 * @param {import('./measure.js').Run} run
 * @returns {string[]}
 */
export function faultsOf({ policy, report, stats }) {
  const faults = [];
  const must = (what, is, be) => {
    if (is !== be) faults.push(`${what}: ${is}, expected ${be}`);
  };
  must('policy of the server', stats.policy, policy);
  for (const count of ['lost', 'duplicated', 'reordered', 'corrupt']) must(count, report[count], 0);
  must('messages never sent', report.unsent, 0);
  must('messages refused', report.refused, 0);
  must('connections closed by the server', report.closed_early, 0);
  must('messages delivered', report.delivered, report.expected);
  must('messages acknowledged', report.acks, report.sent);
  must('messages taken by the server', stats.messages, report.sent);
  must('messages saved', stats.insert_items, report.sent);
  if (report.partial) faults.push('the load was cut short');
  if (report.sent === 0) faults.push('nothing was sent');
  const first = report.first_fault ?? report.first_error;
  if (faults.length > 0 && first) faults.push(`the first fault: ${first}`);
  return faults;
}

/**
 * Returns the differences between the work of two runs of the same open load, a sentence each.
 *
 * @param {import('./measure.js').Run} a
 * @param {import('./measure.js').Run} b
 * @returns {string[]}
 */
export function differences(a, b) {
  const found = [];
  const compare = (what, of, tolerance) => {
    const [ofA, ofB] = [of(a.report), of(b.report)];
    if (Math.abs(ofA - ofB) <= tolerance * Math.max(ofA, ofB)) return;
    found.push(`${what}: ${ofA} with ${a.policy}, ${ofB} with ${b.policy}`);
  };
  compare('seed', ({ seed }) => seed, 0);
  compare('messages due', ({ scheduled }) => scheduled, DUE_TOLERANCE);
  compare('deliveries per message', ({ expected, sent }) => expected / sent, DUE_TOLERANCE);
  compare('bytes per frame', ({ bytes, frames }) => bytes / frames, BYTES_TOLERANCE);
  return found;
}
