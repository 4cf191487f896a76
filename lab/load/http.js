import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { LabError } from './errors.js';

const SATURATED_UTILIZATION = 0.9;

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
 * @param {number} [options.seconds] measured time, 0.1 to 86400, default 10
 * @param {number} [options.warmup] time before it, s, in no statistics; 0 to 3600, default 1
 * @param {number} [options.rate] requests/s over all connections, at most; default: no limit
 * @param {number} [options.timeout] s until a request counts as timed out; 1 to 3600, default 10
 * @param {string} [options.method] default `GET`
 * @param {Record<string, string>} [options.headers]
 * @param {string} [options.body]
 * @param {object[]} [options.requests] in place of the three above: autocannon's list of
 *   `{ method, path, headers, body }`, which every connection goes through again and again
 * @param {object} [options.expect] what makes an answer good
 * @param {number} [options.expect.status] default: any 2xx
 * @param {(body: string) => boolean} [options.expect.body] false counts a mismatch
 * @param {AbortSignal} [options.signal] ends the run early; the result is then `partial`
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
 * @property {number} errors connection errors and timeouts, warm-up included
 * @property {number} timeouts
 * @property {Record<string, number>} status answers by status code
 * @property {{ mean: number, min: number, max: number }} bytes per answer, head included
 * @property {{ n: number, p50: number, p90: number, p99: number, p999: number, max: number,
 *   mean: number }} latency ms
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
  onlyLoopback(url);
  signal?.throwIfAborted();

  const { method, headers, body, requests } = options;
  const instance = autocannon({
    url,
    connections,
    timeout,
    duration: warmup + seconds,
    sampleInt: 100,
    ...(rate > 0 && { overallRate: rate, ignoreCoordinatedOmission: true }),
    ...(expect.body && { verifyBody: expect.body }),
    ...(requests ? { requests } : { method: method ?? 'GET', headers, body }),
  });
  const window = measure(instance, warmup * 1000, seconds * 1000);
  const stop = () => instance.stop();
  signal?.addEventListener('abort', stop, { once: true });
  const total = await instance;
  signal?.removeEventListener('abort', stop);
  return report(window, total, expect.status, signal?.aborted ?? false);
}

/** Gathers what arrives in the measured window; autocannon's own statistics know no warm-up. */
function measure(instance, warmupMs, durationMs) {
  const from = performance.now() + warmupMs;
  const to = from + durationMs;
  const window = { status: {}, latencies: [], bytes: [], from, to, loop: null };
  instance.on('response', (_client, status, bytes, latencyMs) => {
    const now = performance.now();
    if (now < from || now >= to) return;
    window.loop ??= performance.eventLoopUtilization();
    window.status[status] = (window.status[status] ?? 0) + 1;
    window.latencies.push(latencyMs);
    window.bytes.push(bytes);
  });
  return window;
}

function report({ status, latencies, bytes, from, to, loop }, total, wanted, partial) {
  const seconds = Math.max(0, Math.min(performance.now(), to) - from) / 1000;
  const good = ([code]) => (wanted === undefined ? code.startsWith('2') : Number(code) === wanted);
  const answers = latencies.length;
  const unexpected = sum(
    Object.entries(status)
      .filter((entry) => !good(entry))
      .map(([, count]) => count),
  );
  const { errors, timeouts, mismatches } = total;
  const utilization = loop === null ? 0 : performance.eventLoopUtilization(loop).utilization;
  const saturated = utilization > SATURATED_UTILIZATION;
  return {
    ok: answers > 0 && unexpected + errors + mismatches === 0,
    partial,
    answers,
    requests_per_s: seconds > 0 ? answers / seconds : 0,
    unexpected,
    mismatches,
    errors,
    timeouts,
    status,
    bytes: { mean: mean(bytes), min: least(bytes), max: most(bytes) },
    latency: percentiles(latencies),
    measured_s: seconds,
    utilization,
    saturated,
    saturated_why: saturated
      ? `this process's event loop was busy for ${Math.round(utilization * 100)} % of the time`
      : null,
  };
}

function percentiles(values) {
  const sorted = Float64Array.from(values).sort();
  const at = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    n: sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    p999: at(0.999),
    max: at(1),
    mean: mean(values),
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

/** Load goes to this machine alone. */
function onlyLoopback(url) {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const local = /^(127(\.\d+){3}|localhost|\[::1\])$/.test(parsed?.hostname ?? '');
  if (parsed?.protocol === 'http:' && local) return;
  throw invalid(
    `url ${url}: must begin with http:// and name this machine (127.0.0.0/8, localhost or [::1]); no other one is ever loaded`,
  );
}

function invalid(message) {
  return new LabError('MILLRACE_LAB_E_INVALID_OPTION', message);
}
