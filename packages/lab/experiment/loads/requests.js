import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../load/errors.js';
import { everywhere } from '../../load/groups.js';
import { outcomeOf } from './answers.js';
import { exchange } from './exchange.js';
import * as key from './keys.js';
import { routed } from './routes.js';
import { countOf, pattern as patterns, times } from './schedule.js';

/** More requests than this wait for a connection; their latency counts nevertheless. */
const CONNECTIONS = 256;

/** All times are made before the first is sent. */
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
