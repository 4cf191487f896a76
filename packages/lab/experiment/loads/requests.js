/**
 * The load `requests`: an open loop over HTTP. Each request has its times, which do not depend on the answers, and latency counts from the time
 * it was due: a server that stalls is charged for every request that had to wait.
 */
import { createHash } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../load/errors.js';
import { everywhere } from '../../load/groups.js';
import { isLocalPath } from '../../load/loopback.js';
import * as key from './keys.js';
import { outcomeOf } from './outcome.js';

/** In a cycle of this many seconds, one has five times the rate of the others; the mean is the rate. */
const CYCLE_S = 5;
const SPIKE = { fromS: 2, toS: 3, times: 5 };
const BASE = CYCLE_S / (CYCLE_S - 1 + SPIKE.times);

/** A ramp begins with this share of the rate and climbs to all of it. */
const RAMP_FROM = 0.1;

/** Requests due until a time at a rate of 1/s, for each pattern. */
const due = {
  steady: (s) => s,
  spikes(s) {
    const into = s % CYCLE_S;
    const inSpike = Math.min(Math.max(into - SPIKE.fromS, 0), SPIKE.toS - SPIKE.fromS);
    return Math.floor(s / CYCLE_S) * CYCLE_S + BASE * (into + (SPIKE.times - 1) * inSpike);
  },
  ramp: (s, seconds) => RAMP_FROM * s + ((1 - RAMP_FROM) * s * s) / (2 * seconds),
};

/** The names of the patterns, as a key of a load. */
export const patterns = key.among(...Object.keys(due));

/**
 * Returns the times at which a request is due.
 *
 * @param {Request} request
 * @param {'steady' | 'spikes' | 'ramp'} usual its pattern, when it has none of its own
 * @returns {{ request: Request, dueMs: number }[]} in the order of time
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT`
 */
export function times(request, usual = 'steady') {
  const { name, path, at = 0, rate, seconds } = request;
  if (typeof name !== 'string' || !isLocalPath(path)) {
    throw key.mistake(
      `a request must have a name, and a path that begins with one '/'; this has ${name} and ${path}`,
    );
  }
  if ((rate === undefined) !== (seconds === undefined)) {
    throw key.mistake(`${name} must have both rate and seconds, or neither`);
  }
  if (![at, rate ?? 1, seconds ?? 1].every((value) => Number.isFinite(value) && value >= 0)) {
    throw key.mistake(
      `${name} has at ${at}, rate ${rate}, seconds ${seconds}; they must be numbers`,
    );
  }
  if (request.pattern !== undefined && !patterns[1](request.pattern)) {
    throw key.mistake(`${name} has pattern ${request.pattern}; it must be ${patterns[0]}`);
  }
  if (rate === undefined) return [{ request, dueMs: at }];
  const count = countOf(request, usual);
  if (count === 0) {
    throw key.mistake(
      `${name} has rate ${rate} and seconds ${seconds}, which is less than one request`,
    );
  }
  const until = untilOf(request, usual);
  return Array.from({ length: count }, (_, i) => ({
    request,
    dueMs: at + 1000 * timeOf(i, until, seconds),
  }));
}

/**
 * Number of times that a request is sent.
 *
 * @param {Request} request
 * @param {'steady' | 'spikes' | 'ramp'} [usual]
 */
function countOf(request, usual) {
  return request.rate === undefined ? 1 : Math.round(untilOf(request, usual)(request.seconds));
}

/** Number of requests due until a time, s after the first. */
function untilOf({ pattern: own, rate, seconds }, usual = 'steady') {
  const form = Object.hasOwn(due, own ?? usual) ? due[own ?? usual] : due.steady;
  return (s) => rate * form(s, seconds);
}

/** The time at which this many are due, s; by halving, to a microsecond. */
function timeOf(count, until, seconds) {
  let [low, high] = [0, seconds];
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (until(middle) > count) high = middle;
    else low = middle;
  }
  return Math.round(low * 1e6) / 1e6;
}

/** Most connections. Further requests wait for one; their latency counts nevertheless. */
const CONNECTIONS = 256;

/** Most requests, as all times are made before the first is sent. */
const MOST = 1_000_000;

const keys = {
  requests: key.list,
  'warmup?': key.list,
  'pattern?': patterns,
  'normalize?': key.pattern,
};

export const form = key.formOf(keys);

/**
 * Open loop: a list of requests, each with its times.
 *
 * @type {import('./index.js').loads['requests']['drive']}
 */
export async function drive({ url, load, params, arm, signal, timeoutS, cpuUs, phase }) {
  const { requests, warmup = [], pattern, normalize } = key.settle(keys, load, params);
  // A warm-up of less than one request is none.
  const wanted =
    phase === 'warmup' ? warmup.filter((each) => countOf(each, pattern) !== 0) : requests;
  if (wanted.length === 0) return null;
  const all = wanted.map((request) => routed(request, arm?.routes));
  const loop = performance.eventLoopUtilization();
  const answers = await send({ url, requests: all, pattern, normalize, timeoutS, signal, cpuUs });
  if (phase === 'warmup') return null;
  return outcomeOf(answers, performance.eventLoopUtilization(loop).utilization);
}

/**
 * Sends requests at times that do not depend on the answers (open loop), each once. Latency counts from the
 * time a request was due, so a server that stalls is charged for what had to wait.
 *
 * @param {object} options
 * @param {string} options.url of a server on this machine
 * @param {Request[]} options.requests
 * @param {'steady' | 'spikes' | 'ramp'} [options.pattern] of those that have none of their own
 * @param {RegExp} [options.normalize] left out of a body that is compared as a whole: times, random ids
 * @param {number} options.timeoutS for the last answer, after the last request is due
 * @param {AbortSignal} [options.signal]
 * @param {() => number} [options.cpuUs] of the server so far; asked at both ends of a `timed` request
 * @returns {Promise<Answer[]>} in the order in which they were due
 * @throws {LabError} `MILLRACE_LAB_E_EXPERIMENT` a request that is none, `MILLRACE_LAB_E_TIMEOUT`
 *
 * @typedef {object} Request
 * @property {string} name by which metrics ask for it
 * @property {string} path with its query
 * @property {number} [at] when it is due, ms after the start, default 0
 * @property {number} [rate] how many a second, from `at` on
 * @property {number} [seconds] for how long, with `rate`
 * @property {'steady' | 'spikes' | 'ramp'} [pattern] of the rate over time, default the load's, which is steady
 * @property {string} [method] default GET
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {boolean} [timed] whether the server's CPU time while it is under way is wanted
 * @property {(json: any) => unknown} [payload] what of a JSON answer must be the same in both arms; default: the
 *   whole answer, byte by byte
 * @property {(json: any) => boolean} [check] whether an answer is right
 * @property {boolean} [mayFail] whether it may go without a good answer, which is then counted and never compared
 * @property {number} [bytesTolerance] by which share the sizes of the answers of the arms may differ, default 0.02
 *
 * @typedef {object} Answer
 * @property {Request} request
 * @property {number} dueMs after the start, as the next two
 * @property {number} sentMs
 * @property {number} endMs
 * @property {number} latencyMs from `dueMs` to `endMs`
 * @property {number | null} status null when there was none
 * @property {string | null} error why there was none, or why it is wrong
 * @property {boolean} isResent whether it was sent twice, as the server had given up the connection unread
 * @property {number} bytes of its body
 * @property {string | null} hash of its payload
 * @property {any} json its body, when it is JSON
 * @property {string[]} [head] its headers as they came
 * @property {string} [text] its body as text
 * @property {number | null} cpuUs of the server while it was under way, when it is `timed`
 */
export async function send({ url, requests, pattern, timeoutS, signal, cpuUs = () => 0, ...more }) {
  const count = requests.reduce((sum, each) => sum + countOf(each, pattern), 0);
  if (count > MOST) {
    throw key.mistake(
      `there are ${count.toLocaleString('en-US')} requests (rate × seconds of each); ` +
        `at most ${MOST.toLocaleString('en-US')} are possible: lower a rate or its seconds`,
    );
  }
  const due = requests.flatMap((each) => times(each, pattern)).sort((a, b) => a.dueMs - b.dueMs);
  if (due.length === 0) throw key.mistake('there is no request');
  const normalize = more.normalize && everywhere(more.normalize);
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const late = new AbortController();
  const start = performance.now();
  const now = () => performance.now() - start;

  const one = async ({ request, dueMs }) => {
    const before = request.timed ? cpuUs() : 0;
    const sentMs = now();
    const answer = await exchange(url, request, agent, normalize);
    const endMs = now();
    const used = request.timed ? cpuUs() - before : null;
    return { request, dueMs, sentMs, endMs, latencyMs: endMs - dueMs, ...answer, cpuUs: used };
  };
  const under = [];
  const all = async () => {
    for (const each of due) {
      // A timer may be early by a part of a millisecond.
      for (let ms = each.dueMs - now(); ms > 0; ms = each.dueMs - now()) {
        await sleep(Math.ceil(ms), undefined, { signal: late.signal });
      }
      under.push(one(each));
    }
    return Promise.all(under);
  };
  const stopped = new Promise((_, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true, signal: late.signal });
  });
  const timeoutMs = due.at(-1).dueMs + timeoutS * 1000;
  const timeout = sleep(timeoutMs, undefined, { signal: late.signal }).then(() => {
    throw new LabError(
      'MILLRACE_LAB_E_TIMEOUT',
      `not every answer was there ${timeoutS} s after the last request; give load.timeoutS more, or a lower rate`,
    );
  });
  try {
    return await Promise.race([all(), stopped, timeout]);
  } finally {
    timeout.catch(() => {});
    stopped.catch(() => {});
    late.abort();
    agent.destroy();
  }
}

/**
 * Sends one request.
 *
 * @param {string} url of the server
 * @param {Request} request
 * @param {http.Agent | false} agent
 * @param {RegExp} [normalize] with `g`: left out of a body that is compared as a whole
 * @returns {Promise<Pick<Answer, 'status' | 'error' | 'bytes' | 'hash' | 'json' | 'isResent'> &
 *   { head?: string[], text?: string }>} never rejects; `head` and `text` are the answer as it came
 */
export function exchange(url, request, agent, normalize) {
  const { path, method = 'GET', headers, body } = request;
  return new Promise((resolve) => {
    const sent = http.request(new URL(path, url), { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', failed);
      response.once('end', () => {
        resolve(read(request, response, Buffer.concat(chunks), normalize));
      });
    });
    sent.once('error', failed);
    sent.end(body);

    function failed({ code, message }) {
      // A server that was blocked for long closes what it takes for idle as soon as it wakes up, with the
      // request unread: every client asks again then, and the time goes on. Once: on a new connection
      // (so says `false`) there is no such excuse.
      if (sent.reusedSocket && code === 'ECONNRESET' && method === 'GET' && !sent.res) {
        const again = exchange(url, request, false, normalize);
        resolve(again.then((answer) => ({ ...answer, isResent: true })));
        return;
      }
      const none = { status: null, bytes: 0, hash: null, json: null };
      resolve({ ...none, error: code ?? message, isResent: false });
    }
  });
}

function read({ payload, check }, { statusCode: status, rawHeaders: head }, body, normalize) {
  const [json, text] = [parse(body), `${body}`];
  const answer = { status, error: null, bytes: body.length, hash: null, json, isResent: false };
  Object.assign(answer, { head, text });
  if (json === undefined && (payload || check)) return { ...answer, error: 'it is not JSON' };
  try {
    const whole = normalize ? text.replace(normalize, '') : body;
    answer.hash = hash(payload ? JSON.stringify(payload(json) ?? null) : whole);
    if (check && !check(json)) answer.error = 'it is wrong';
  } catch (error) {
    answer.error = `it cannot be read: ${error.message}`;
  }
  return answer;
}

function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const hash = (data) => createHash('sha256').update(data).digest('hex');

/** The path as an arm serves it; the name by which it is compared stays. */
export function routed(request, routes = {}) {
  const [path, query] = request.path.split('?');
  if (!Object.hasOwn(routes, path)) return request;
  const way = routes[path];
  if (query === undefined) return { ...request, path: way };
  return { ...request, path: `${way}${way.includes('?') ? '&' : '?'}${query}` };
}
