import { latencySeries, latencySummary, percentilePoints } from '../../load/latency.js';
import { faultsOf, groupsOf, isGood } from '../answers.js';

/** A request that is sent so much later than it was due is late by the lab's own fault. */
const LATE_MS = 5;

/** The generator is saturated when more than this share is late, and more than so many. */
const LATE_SHARE = 0.01;
const LATE_COUNT = 5;
const BUSY = 0.9;

/** Of each first answer, letters. */
const FIRST_LENGTH = 16_384;

/**
 * What answers in an open loop say.
 *
 * @param {import('./requests.js').Answer[]} answers
 * @param {number} utilization of the loop that has sent them
 * @returns {import('./index.js').Outcome}
 */
export function outcomeOf(answers, utilization) {
  const good = answers.filter(isGood);
  const latencies = good.map(({ latencyMs }) => latencyMs);
  const endMs = good.map((answer) => answer.endMs);
  const seconds = answers.reduce((most, answer) => Math.max(most, answer.endMs), 0) / 1000;
  return {
    isClosed: false,
    work: groupsOf(answers),
    values: {
      answers: good.length,
      answers_per_s: seconds > 0 ? good.length / seconds : 0,
      errors: answers.length - good.length,
      resent: answers.filter(({ isResent }) => isResent).length,
    },
    latency: good.length > 0 ? latencySummary(latencies) : null,
    percentiles: percentilePoints(latencies),
    series: latencySeries(endMs, latencies, seconds),
    saturated: saturation(answers, utilization),
    faults: faultsOf(answers),
    first: firstAnswers(answers),
    answers: answers.map(({ head, text, ...answer }) => answer),
  };
}

function saturation(answers, utilization) {
  const late = answers.filter(({ sentMs, dueMs }) => sentMs - dueMs > LATE_MS);
  if (late.length > Math.max(LATE_COUNT, LATE_SHARE * answers.length)) {
    const most = late.reduce((ms, { sentMs, dueMs }) => Math.max(ms, sentMs - dueMs), 0);
    return (
      `the load generator was the limit: it sent ${late.length} of ${answers.length} requests more than ` +
      `${LATE_MS} ms late, up to ${most.toFixed(1)} ms`
    );
  }
  if (utilization <= BUSY) return null;
  return `the load generator was the limit: its event loop was busy for ${Math.round(utilization * 100)} % of the time`;
}

/** One to each name. */
function firstAnswers(answers) {
  const first = new Map();
  for (const { request, head = [], text = '' } of answers) {
    if (first.has(request.name)) continue;
    const lines = [request.name];
    for (let i = 0; i < head.length; i += 2) lines.push(`${head[i]}: ${head[i + 1]}`);
    first.set(request.name, `${lines.join('\n')}\n${text}`.slice(0, FIRST_LENGTH));
  }
  return [...first.values()].join('\n\n');
}
