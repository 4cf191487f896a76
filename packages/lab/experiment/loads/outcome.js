/**
 * Outcomes of a load: from single answers, or from what a script returned or a program printed, to the groups by which arms are compared, the
 * figures of the load, and its faults.
 */

import { latencySeries, latencySummary, percentilePoints } from '../../load/latency.js';
import * as key from './keys.js';

/** A request that is sent so much later than it was due is late by the lab's own fault. */
const LATE_MS = 5;

/** Latencies do not count when more than this share is late, and more than this number. */
const LATE_SHARE = 0.01;
const LATE_COUNT = 5;

/**
 * Utilization of the sending loop from which on the generator was the limit. A shorter time is little more than opening its connections, and the few
 * answers of fewer requests keep it busy only where other programs have the processors.
 */
const BUSY = 0.9;
const LEAST_BUSY_S = 0.2;
const LEAST_REQUESTS = 20;

/** Letters of each first answer that are kept. */
const FIRST_LENGTH = 16_384;

/**
 * Sums up the answers in an open loop.
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

/** Reason why latencies do not count: the generator itself is a part of them. All else counts: it sent what it had to send. */
function latenessOf(answers) {
  const late = answers.filter(({ sentMs, dueMs }) => sentMs - dueMs > LATE_MS);
  const isLate = late.length > Math.max(LATE_COUNT, LATE_SHARE * answers.length);
  return isLate ? 'the load generator was late, so that latencies do not count' : null;
}

function saturation(utilization, seconds, requests) {
  if (utilization <= BUSY || seconds < LEAST_BUSY_S || requests < LEAST_REQUESTS) return null;
  return `the load generator was the limit: its event loop was busy for ${Math.round(utilization * 100)} % of the time`;
}

/** Returns the first answer to each name. */
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

/** The single answers that the kind of load `requests` keeps. */

/** Reports whether an answer counts: a 2xx and, where the load can tell, right. */
const isGood = ({ status, error }) => error === null && status >= 200 && status <= 299;

/** Reports whether it is one of those that may fail, and has. */
export const hasFailed = (answer) => answer.request.mayFail === true && !isGood(answer);

/**
 * Returns the faults of answers, a sentence each: every request, except those that may fail, must have been answered
 * with a 2xx and, where the load can tell, rightly.
 *
 * @param {import('./requests.js').Answer[]} answers
 * @returns {string[]}
 */
export function faultsOf(answers) {
  return byName(answers).flatMap(([name, all]) => {
    const failed = all.filter((answer) => !isGood(answer));
    if (failed.length === 0 || all[0].request.mayFail) return [];
    const [{ status, error }] = failed;
    const why = [status === null ? [] : `status ${status}`, error ?? []].flat().join(', ');
    return [`${failed.length} of ${all.length} answers to '${name}' do not count: ${why}`];
  });
}

/**
 * Groups answers by the name of their request, by which arms are compared.
 *
 * @param {import('./requests.js').Answer[]} answers
 * @returns {import('../refusal.js').Group[]}
 */
export function groupsOf(answers) {
  return byName(answers).map(([name, all]) => {
    const { bytesTolerance, mayFail } = all[0].request;
    const varies = doVary(all);
    return {
      name,
      answers: all.length,
      status: counts(all.map(({ status }) => `${status ?? 'none'}`)),
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) / all.length,
      payload: varies ? null : list(all.map(({ hash }) => `${hash}`.slice(0, 12))),
      varies,
      dueTimes: list(all.map(({ dueMs }) => `${dueMs} ms`)),
      ...(bytesTolerance !== undefined && { bytesTolerance }),
      ...(mayFail !== undefined && { mayFail }),
    };
  });
}

/** Reports whether the same question had different answers; what of them must be the same an experiment may say itself. */
function doVary(answers) {
  const bodies = new Map();
  for (const { request, status, hash } of answers) {
    if (request.payload || hash === null) continue;
    const { method, path, body } = request;
    const asked = JSON.stringify([method, path, body, status]);
    if ((bodies.get(asked) ?? hash) !== hash) return true;
    bodies.set(asked, hash);
  }
  return false;
}

/** Names in the order of the alphabet. */
function byName(answers) {
  const groups = new Map();
  for (const answer of answers) {
    const { name } = answer.request;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(answer);
  }
  return [...groups].sort(([x], [y]) => (x < y ? -1 : 1));
}

function counts(values) {
  const found = {};
  for (const value of [...values].sort()) found[value] = (found[value] ?? 0) + 1;
  return found;
}

/** Lists distinct values with their counts, as `1a2b (40), 3c4d (2)`. */
function list(values) {
  const all = Object.entries(counts(values));
  const shown = all.slice(0, 5).map(([value, count]) => `${value} (${count})`);
  return shown.join(', ') + (all.length > 5 ? ` and ${all.length - 5} others` : '');
}

/**
 * Notes on bodies that cannot be compared.
 *
 * @param {import('./index.js').Group[]} groups
 * @returns {string[]}
 */
export function variationNotes(groups) {
  return groups
    .filter(({ varies, mayFail }) => varies && !mayFail)
    .map(
      ({ name }) =>
        `the bodies of '${name}' differ within one run, so that they were not compared; normalize leaves out what changes`,
    );
}

const numbers = [
  'an object of numbers',
  (value) =>
    key.object[1](value) &&
    Object.values(value).every((each) => each === null || Number.isFinite(each)),
];
const isNumbers = (value) => Array.isArray(value) && value.every((each) => Number.isFinite(each));

/** Result that a user's script returns and a program prints. */
const keys = {
  'answers?': key.number(0, Number.MAX_SAFE_INTEGER),
  'latencies?': ['a list of numbers, ms', isNumbers],
  'latency?': numbers,
  'percentiles?': [
    'a list of [share, ms]',
    (value) => Array.isArray(value) && value.every(isNumbers),
  ],
  'status?': numbers,
  'bytes?': key.number(0, Number.MAX_SAFE_INTEGER),
  'values?': numbers,
  'work?': ['a list of objects, each with a name and answers', isWork],
  'series?': [
    'an object of lists of [seconds, value]',
    (value) =>
      key.object[1](value) &&
      Object.values(value).every((each) => Array.isArray(each) && each.every(isNumbers)),
  ],
  'faults?': [
    'a list of texts',
    (value) => Array.isArray(value) && value.every((x) => key.text[1](x)),
  ],
  'isClosed?': key.flag,
};

function isWork(value) {
  const isGroup = (each) =>
    key.object[1](each) && key.text[1](each.name) && Number.isFinite(each.answers);
  return Array.isArray(value) && value.every(isGroup);
}

/**
 * Checks it and makes it an Outcome.
 *
 * @param {any} json
 * @param {{ what: string, name: string, seconds: number }} about `what` for messages, `name` of the one group of
 *   work when it names none, `seconds` that it took
 * @returns {import('./index.js').Outcome}
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` naming the key
 */
export function readReturned(json, { what, name, seconds }) {
  if (!key.object[1](json)) {
    throw key.mistake(`${what} ${key.show(json)}; it must be an object with answers or work`);
  }
  for (const [marked, [allowed, test]] of Object.entries(keys)) {
    const value = json[marked.slice(0, -1)];
    if (value === undefined || test(value)) continue;
    throw key.mistake(
      `${what} ${marked.slice(0, -1)} ${key.show(value).slice(0, 200)}; it must be ${allowed}`,
    );
  }
  const { latencies = [], values = {}, status = {}, bytes = 0, series = {}, faults = [] } = json;
  const answers = json.answers ?? json.work?.reduce((sum, group) => sum + group.answers, 0);
  if (answers === undefined)
    throw key.mistake(`${what} neither answers nor work; it must have one`);
  const group = { status: {}, bytes: 0, payload: null };
  const has = latencies.length > 0;
  return {
    isClosed: json.isClosed ?? true,
    work: json.work?.map((each) => ({ ...group, ...each })) ?? [
      { ...group, name, answers, status, bytes },
    ],
    values: { answers, answers_per_s: seconds > 0 ? answers / seconds : 0, ...values },
    latency: json.latency ?? (has ? latencySummary(latencies) : null),
    percentiles: json.percentiles ?? percentilePoints(latencies),
    series,
    saturated: null,
    faults,
    json,
  };
}
