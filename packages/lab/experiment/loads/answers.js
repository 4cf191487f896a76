import { latencySeries, latencySummary, percentilePoints } from '../../load/latency.js';
import { faultsOf, groupsOf, isGood } from '../answers.js';
import { variationNotes } from './varies.js';

/** A request that is sent so much later than it was due is late by the lab's own fault. */
const LATE_MS = 5;

/** Latencies do not count when more than this share is late, and more than this number. */
const LATE_SHARE = 0.01;
const LATE_COUNT = 5;

/**
 * Of the loop that sends: the generator was the limit. A shorter time is little more than opening its connections, and the few
 * answers of fewer requests keep it busy only where other programs have the processors.
 */
const BUSY = 0.9;
const LEAST_BUSY_S = 0.2;
const LEAST_REQUESTS = 20;

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
  const late = latenessOf(answers);
  const work = groupsOf(answers);
  const seconds = answers.reduce((most, answer) => Math.max(most, answer.endMs), 0) / 1000;
  return {
    isClosed: false,
    work,
    notes: variationNotes(work),
    values: {
      answers: good.length,
      answers_per_s: seconds > 0 ? good.length / seconds : 0,
      errors: answers.length - good.length,
      resent: answers.filter(({ isResent }) => isResent).length,
    },
    latency: good.length > 0 && late === null ? latencySummary(latencies) : null,
    percentiles: late === null ? percentilePoints(latencies) : null,
    series: latencySeries(endMs, latencies, seconds),
    late,
    saturated: saturation(utilization, seconds, answers.length),
    faults: faultsOf(answers),
    first: firstAnswers(answers),
    answers: answers.map(({ head, text, ...answer }) => answer),
  };
}

/** Why latencies do not count: the generator itself is a part of them. All else counts: it sent what it had to send. */
function latenessOf(answers) {
  const late = answers.filter(({ sentMs, dueMs }) => sentMs - dueMs > LATE_MS);
  const isLate = late.length > Math.max(LATE_COUNT, LATE_SHARE * answers.length);
  return isLate ? 'the load generator was late, so that latencies do not count' : null;
}

function saturation(utilization, seconds, requests) {
  if (utilization <= BUSY || seconds < LEAST_BUSY_S || requests < LEAST_REQUESTS) return null;
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
