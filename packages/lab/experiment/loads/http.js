import { runHttp } from '../../load/http.js';
import { isLocalPath } from '../../load/loopback.js';
import * as key from './keys.js';
import { variationNotes } from './outcome.js';
import { routed } from './requests.js';

/**
 * Closed loop by autocannon: each connection asks again as soon as it has its answer. How many answers there are is the
 * server's affair; which share each path, status and size has must be the same in all arms. `mayFail`: other statuses,
 * errors and timeouts are counted in `values`, and no faults.
 */
const keys = {
  'connections?': key.whole(1, 10_000),
  'seconds?': key.number(0.5, 86_400),
  'warmup?': key.number(0, 3600),
  'timeout?': key.number(1, 3600),
  'paths?': key.paths,
  'requests?': key.list,
  'method?': key.text,
  'headers?': key.texts,
  'body?': key.text,
  'expect?': key.object,
  'normalize?': key.pattern,
  'mayFail?': key.flag,
};

export const form = key.formOf(keys);

/** @type {import('./index.js').loads['http']['drive']} */
export async function drive({ url, load, params, arm, signal, phase, begin, end }) {
  if (phase === 'warmup') return null;
  const { requests, paths, method, headers, body, mayFail, ...options } = settle(load, params);
  const wanted = requests ?? paths?.map((path) => ({ path })) ?? [{ path: pathOf(url) }];
  const result = await runHttp({
    ...options,
    seed: params.seed,
    url: new URL('/', url).href,
    requests: wanted.map((request) => named({ method, headers, body, ...request }, arm?.routes)),
    signal,
    onBegin: begin,
    onEnd: end,
  });
  signal?.throwIfAborted();
  return outcome(result, wanted.length, mayFail);
}

function settle(load, params) {
  const settled = key.settle(keys, load, params);
  if (settled.requests && settled.paths) {
    throw key.mistake('load has both requests and paths; it must be one of them, or neither');
  }
  for (const [i, request] of (settled.requests ?? []).entries()) {
    if (isLocalPath(request?.path)) continue;
    throw key.mistake(
      `load.requests[${i}].path is ${key.show(request?.path)}; it must begin with one '/'`,
    );
  }
  return settled;
}

/** Named before it is routed. */
function named(request, routes) {
  const name = request.name ?? `${request.method ?? 'GET'} ${request.path}`;
  return { ...routed(request, routes), name };
}

const pathOf = (url) => `${new URL(url).pathname}${new URL(url).search}`;

function outcome(result, paths, mayFail = false) {
  const { answers, requests_per_s, errors, timeouts, unexpected, mismatches, measured_s } = result;
  const groups = result.groups.map((group) => (mayFail ? { ...group, mayFail } : group));
  const values = { answers, answers_per_s: requests_per_s, requests_per_s };
  return {
    isClosed: true,
    work: groups,
    notes: variationNotes(groups),
    values: { ...values, errors, timeouts, unexpected, mismatches, measured_s },
    latency: answers > 0 ? result.latency : null,
    percentiles: result.percentiles,
    series: result.series,
    saturated: result.saturated
      ? `the load generator was the limit: ${result.saturated_why}`
      : null,
    faults: mayFail ? none(answers) : faultsOf(result, paths),
    first: result.first,
  };
}

const none = (answers) => (answers === 0 ? ['there was no answer'] : []);

function faultsOf(result, paths) {
  const { answers, errors, timeouts, early_errors, unexpected, mismatches, status, groups } =
    result;
  const unanswered = paths - groups.filter((group) => group.answers > 0).length;
  const mix = Object.entries(status).map(([code, count]) => `${code} (${count})`);
  return [
    ...none(answers),
    ...(answers > 0 && unanswered > 0 ? [`${unanswered} of ${paths} requests had no answer`] : []),
    ...(unexpected > 0
      ? [`${unexpected} of ${answers} answers have an unexpected status: ${mix.join(', ')}`]
      : []),
    ...(mismatches > 0 ? [`${mismatches} answers have a wrong body`] : []),
    ...(errors > 0
      ? [`${errors} requests had no answer, ${timeouts} of them as they timed out`]
      : []),
    ...(early_errors > 0 ? [`${early_errors} requests of the warm-up had no answer`] : []),
  ];
}
