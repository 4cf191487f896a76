import { performance } from 'node:perf_hooks';
import { LabError } from './errors.js';
import { Exchanges } from './exchanges.js';
import { Groups } from './groups.js';
import { latencySeries, latencySummary, percentilePoints } from './latency.js';
import { whyNotLocal } from './loopback.js';

const SATURATED_UTILIZATION = 0.9;
const SPARE_S = 60;

/**
 * Loads an HTTP server on this machine and checks every answer. The load is closed: each
 * connection sends its next request when the answer is there. `rate` only slows it down, so
 * latencies count from the actual sending.
 *
 * It runs in the calling process; `saturated` says when that was the limit.
 *
 * @param {object} options
 * @param {string} options.url on 127.0.0.0/8, localhost or [::1]
 * @param {number} [options.connections] 1 to 10000, default 10
 * @param {number} [options.seconds] measured time, 0.1 to 86400, default 10; a window without an answer goes on until its
 *   first one, for `timeout` at most
 * @param {number} [options.warmup] time before it, s, in no statistics; 0 to 3600, default 1
 * @param {number} [options.rate] requests/s over all connections, at most; default: no limit
 * @param {number} [options.timeout] s until a request counts as timed out; 1 to 3600, default 10
 * @param {string} [options.method] default `GET`
 * @param {Record<string, string>} [options.headers]
 * @param {string} [options.body]
 * @param {object[]} [options.requests] in place of the three above: a list of
 *   `{ name, method, path, headers, body }`, which every connection goes through again and again; answers
 *   are told apart by `name`, by default the method and the path
 * @param {RegExp} [options.normalize] left out of a body before it is compared with others: times, random ids
 * @param {number} [options.seed] which bodies are compared, a whole number from 0 to 2^32 - 1
 * @param {object} [options.expect] what makes an answer good
 * @param {number} [options.expect.status] default: any 2xx
 * @param {(body: string) => boolean} [options.expect.body] false counts a mismatch
 * @param {AbortSignal} [options.signal] ends the run early; the result is then `partial`
 * @param {() => void} [options.onBegin] called when the measured window begins: after the warm-up, and when each
 *   connection has had an answer or `timeout` is over
 * @param {() => void} [options.onEnd] called when it ends
 * @returns {Promise<HttpResult>}
 * @throws {LabError} `MILLRACE_LAB_E_INVALID_OPTION`
 *
 * @typedef {object} HttpResult
 * @property {boolean} ok there were answers, and all of them were good
 * @property {boolean} partial
 * @property {number} answers in the measured window
 * @property {number} requests_per_s answers per second in the measured window
 * @property {number} unexpected answers with another status than expected
 * @property {number} mismatches answers whose body was refused, warm-up included
 * @property {number} errors requests that went without an answer in the measured window: connections that were refused or
 *   cut, and timeouts
 * @property {number} timeouts those of them
 * @property {number} early_errors errors of the warm-up
 * @property {Record<string, number>} status answers by status code
 * @property {{ mean: number, min: number, max: number }} bytes per answer, head included
 * @property {{ n: number, p50: number, p90: number, p99: number, p999: number, max: number,
 *   mean: number }} latency ms
 * @property {[share: number, ms: number][] | null} percentiles of the latency
 * @property {Record<string, [seconds: number, value: number][]>} series `answers_per_s` and `latency_p99_ms`, a
 *   point each quarter of a second
 * @property {{ name: string, answers: number, status: Record<string, number>, bytes: number,
 *   payload: string | null, varies: boolean }[]} groups answers by request: `bytes` of the body on average, `payload` a
 *   fingerprint of the body, null when those that were looked at (64, then one in 16) are not all the same: it `varies`
 * @property {string} first the first answer to each request, head and body
 * @property {number} measured_s
 * @property {number} utilization of this process's event loop in the measured window
 * @property {boolean} saturated this process was the limit
 * @property {string | null} saturated_why
 */
export async function runHttp(options) {
  const { url, expect = {}, signal } = options;
  const connections = inRange('connections', options.connections ?? 10, 1, 10_000);
  const seconds = inRange('seconds', options.seconds ?? 10, 0.1, 86_400);
  const warmup = inRange('warmup', options.warmup ?? 1, 0, 3600);
  const timeout = inRange('timeout', options.timeout ?? 10, 1, 3600);
  const rate = options.rate === undefined ? 0 : inRange('rate', options.rate, 1, 10e6);
  const why = whyNotLocal(url);
  if (why) throw invalid(`url ${url}: ${why}`);
  // It takes a quarter of a second to load, which an experiment without such a load need not spend.
  const { default: autocannon } = await import('autocannon');
  signal?.throwIfAborted();

  const groups = new Groups(options.normalize, options.seed);
  const unanswered = { cut: 0, timeouts: 0 };
  const instance = autocannon({
    url,
    connections,
    timeout,
    // The window ends it; this is for a window that cannot.
    duration: warmup + seconds + timeout + SPARE_S,
    sampleInt: 100,
    ...(rate > 0 && { overallRate: rate, ignoreCoordinatedOmission: true }),
    ...(expect.body && { verifyBody: (body) => expect.body(`${body}`) }),
    requests: namedRequests(options, groups),
    setupClient: (client) => watch(client, unanswered),
  });
  const window = new Window(instance, groups, {
    ...{ warmup, seconds, timeout, connections, options, unanswered },
  });
  const stop = () => instance.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const total = await instance;
  signal?.removeEventListener('abort', stop);
  window.end();
  return report(window, total, expect.status, signal?.aborted ?? false);
}

function namedRequests({ url, requests, method = 'GET', headers, body }, groups) {
  const { pathname, search } = new URL(url);
  const wanted = requests ?? [{ method, path: `${pathname}${search}`, headers, body }];
  return wanted.map(({ name, ...request }) => ({
    ...request,
    method: request.method ?? 'GET',
    onResponse(status, bytes, _context, head) {
      const title = name ?? `${request.method ?? 'GET'} ${request.path}`;
      groups.add(title, status, bytes, head);
    },
  }));
}

/** Counts what goes without an answer on a connection. */
function watch(client, unanswered) {
  client.pipelinedRequests = new Exchanges(() => {
    unanswered.cut += 1;
  });
  client.on('timeout', () => {
    unanswered.timeouts += 1;
  });
}

/** Gathers what arrives in the measured window; autocannon's own statistics know no warm-up. */
class Window {
  status = {};
  latencies = [];
  times = [];
  bytes = [];
  utilization = 0;
  seconds = 0;
  #phase = 'warmup';
  #from = 0;
  #loop;
  #timers = [];
  #seen = new Set();
  #isWarm = false;
  #isDue = false;
  #unanswered;
  /** Failures of the warm-up. */
  early = { cut: 0, timeouts: 0 };
  unanswered = { cut: 0, timeouts: 0 };

  constructor(instance, groups, { warmup, seconds, timeout, connections, options, unanswered }) {
    this.groups = groups;
    this.#unanswered = unanswered;
    this.onEnd = options.onEnd;
    const begin = () => {
      if (this.#phase !== 'warmup') return;
      this.#phase = 'measure';
      groups.restart();
      this.early = { ...unanswered };
      this.#loop = performance.eventLoopUtilization();
      options.onBegin?.();
      this.#from = performance.now();
      this.#after(seconds, () => {
        this.#isDue = true;
        if (this.latencies.length > 0) over();
        else this.#after(timeout, over);
      });
    };
    const over = () => {
      this.end();
      instance.stop();
    };
    const warm = () => {
      this.#isWarm = true;
      if (this.#seen.size >= connections || warmup === 0) begin();
    };
    if (warmup === 0) warm();
    else this.#after(warmup, warm);
    this.#after(warmup + timeout, begin);
    instance.on('response', (client, status, bytes, latencyMs) => {
      if (this.#phase === 'measure') {
        this.#take(status, bytes, latencyMs);
        if (this.#isDue) over();
      }
      if (this.#phase !== 'warmup') return;
      this.#seen.add(client);
      if (this.#isWarm && this.#seen.size >= connections) begin();
    });
  }

  #after(seconds, call) {
    this.#timers.push(setTimeout(call, seconds * 1000));
  }

  #take(status, bytes, latencyMs) {
    this.status[status] = (this.status[status] ?? 0) + 1;
    this.latencies.push(latencyMs);
    this.times.push(performance.now() - this.#from);
    this.bytes.push(bytes);
  }

  end() {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer);
    if (this.#phase === 'measure') {
      this.seconds = (performance.now() - this.#from) / 1000;
      this.utilization = performance.eventLoopUtilization(this.#loop).utilization;
      // What comes from now on is in no count.
      this.work = this.groups.list();
      const { cut, timeouts } = this.#unanswered;
      this.unanswered = { cut: cut - this.early.cut, timeouts: timeouts - this.early.timeouts };
      this.onEnd?.();
    }
    this.#phase = 'over';
  }
}

function report(window, total, wanted, partial) {
  const { status, latencies, times, bytes, seconds, utilization } = window;
  const good = ([code]) => (wanted === undefined ? code.startsWith('2') : Number(code) === wanted);
  const answers = latencies.length;
  const unexpected = sum(
    Object.entries(status)
      .filter((entry) => !good(entry))
      .map(([, count]) => count),
  );
  const { mismatches } = total;
  const { timeouts } = window.unanswered;
  const errors = window.unanswered.cut + timeouts;
  const early = window.early.cut + window.early.timeouts;
  const saturated = utilization > SATURATED_UTILIZATION;
  return {
    ok: answers > 0 && unexpected + errors + early + mismatches === 0,
    partial,
    answers,
    requests_per_s: seconds > 0 ? answers / seconds : 0,
    unexpected,
    mismatches,
    errors,
    timeouts,
    early_errors: early,
    status,
    bytes: { mean: mean(bytes), min: least(bytes), max: most(bytes) },
    latency: latencySummary(latencies),
    percentiles: percentilePoints(latencies),
    series: latencySeries(times, latencies, seconds),
    groups: window.work ?? [],
    first: window.groups.firstAnswers(),
    measured_s: seconds,
    utilization,
    saturated,
    saturated_why: saturated
      ? `this process's event loop was busy for ${Math.round(utilization * 100)} % of the time`
      : null,
  };
}

const sum = (values) => values.reduce((a, b) => a + b, 0);
const mean = (values) => (values.length === 0 ? 0 : sum(values) / values.length);
const least = (values) => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);
const most = (values) => values.reduce((a, b) => Math.max(a, b), 0);

function inRange(name, value, low, high) {
  if (typeof value === 'number' && value >= low && value <= high) return value;
  throw invalid(`${name} ${value}: must be a number from ${low} to ${high}`);
}

function invalid(message) {
  return new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
}
