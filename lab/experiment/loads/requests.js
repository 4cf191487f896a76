import { createHash } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../load/errors.js';

/** More requests than this wait for a connection; their latency counts nevertheless. */
const CONNECTIONS = 256;

/**
 * Sends requests at times that do not depend on the answers (open loop), each once. Latency counts from the
 * time a request was due, so a server that stalls is charged for what had to wait.
 *
 * @param {object} options
 * @param {string} options.url of a server on this machine
 * @param {Request[]} options.requests
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
 * @property {number} [rate] so many a second, evenly, from `at` on
 * @property {number} [seconds] for so long, with `rate`
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
 * @property {number | null} cpuUs of the server while it was under way, when it is `timed`
 */
export async function requests({ url, requests: wanted, timeoutS, signal, cpuUs = () => 0 }) {
  const due = wanted.flatMap(times).sort((a, b) => a.dueMs - b.dueMs);
  if (due.length === 0) throw mistake('there is no request');
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const late = new AbortController();
  const start = performance.now();
  const now = () => performance.now() - start;

  const send = async ({ request, dueMs }) => {
    const before = request.timed ? cpuUs() : 0;
    const sentMs = now();
    const answer = await exchange(url, request, agent);
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
      under.push(send(each));
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
    throw new LabError('MILLRACE_LAB_E_TIMEOUT', `not every answer was there after ${timeoutS} s`);
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

/** One request for each time at which it is due. */
function times(request) {
  const { name, path, at = 0, rate, seconds } = request;
  if (typeof name !== 'string' || typeof path !== 'string' || !path.startsWith('/')) {
    throw mistake(`a request must have a name and a path, this has ${name} and ${path}`);
  }
  if ((rate === undefined) !== (seconds === undefined)) {
    throw mistake(`${name} must have both rate and seconds, or neither`);
  }
  if (![at, rate ?? 1, seconds ?? 1].every((value) => Number.isFinite(value) && value >= 0)) {
    throw mistake(`${name} has at ${at}, rate ${rate}, seconds ${seconds}; they must be numbers`);
  }
  const count = rate === undefined ? 1 : Math.round(rate * seconds);
  return Array.from({ length: count }, (_, i) => ({
    request,
    dueMs: at + (i * 1000) / (rate ?? 1),
  }));
}

function exchange(url, request, agent) {
  const { path, method = 'GET', headers, body } = request;
  return new Promise((resolve) => {
    const sent = http.request(new URL(path, url), { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.once('error', failed);
      response.once('end', () =>
        resolve(read(request, response.statusCode, Buffer.concat(chunks))),
      );
    });
    sent.once('error', failed);
    sent.end(body);

    function failed({ code, message }) {
      // A server that was blocked for long closes what it takes for idle as soon as it wakes up, with the
      // request unread: every client asks again then, and the time goes on. Once: on a new connection
      // (so says `false`) there is no such excuse.
      if (sent.reusedSocket && code === 'ECONNRESET' && method === 'GET' && !sent.res) {
        resolve(exchange(url, request, false).then((answer) => ({ ...answer, isResent: true })));
        return;
      }
      const none = { status: null, bytes: 0, hash: null, json: null };
      resolve({ ...none, error: code ?? message, isResent: false });
    }
  });
}

function read({ payload, check }, status, body) {
  const json = parse(body);
  const answer = { status, error: null, bytes: body.length, hash: null, json, isResent: false };
  if (json === undefined && (payload || check)) return { ...answer, error: 'it is not JSON' };
  try {
    answer.hash = hash(payload ? JSON.stringify(payload(json) ?? null) : body);
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

function mistake(message) {
  return new LabError('MILLRACE_LAB_E_EXPERIMENT', message);
}
