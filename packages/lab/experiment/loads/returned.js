import { latencySummary, percentilePoints } from '../../load/latency.js';
import * as key from './keys.js';

const numbers = [
  'an object of numbers',
  (value) =>
    key.object[1](value) &&
    Object.values(value).every((each) => each === null || Number.isFinite(each)),
];
const isNumbers = (value) => Array.isArray(value) && value.every((each) => Number.isFinite(each));

/** What a user's script returns and a program prints. */
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
