/** The usual metrics of an experiment, to be put together in its file; below them those of an experiment that has none of its own. */

import { median } from '../stats/index.js';
import { hasFailed } from './loads/outcome.js';

/** A shorter time has too few of the kernel's steps of 10 ms to divide by. */
const LEAST_MS = 200;

const named = ({ answers }, name) => answers.filter(({ request }) => request.name === name);

/** Answers of a name; none when the generator was late, as their times do not count. */
const timed = (run, name) => (run.late ? [] : named(run, name));

/**
 * Median time from when a request of that name was due to the end of its answer, ms; null when some have failed
 * that may fail: those that wait longest are the first to.
 */
export const latencyMs = (name) => (run) => {
  const all = timed(run, name);
  return all.some(hasFailed) ? null : middle(all.map((answer) => answer.latencyMs));
};

/** Number of failed requests of that name, among those that may fail. */
export const failures = (name) => (run) => named(run, name).filter(hasFailed).length;

/** The longest. */
export const longestMs = (name) => (run) => {
  const all = timed(run, name).map((answer) => answer.latencyMs);
  return all.length === 0 ? null : all.reduce((a, b) => Math.max(a, b));
};

/** The time that a share of the answers, 0 to 1, was there within, ms. */
export const percentileMs = (name, share) => (run) => {
  const sorted = timed(run, name)
    .map((answer) => answer.latencyMs)
    .sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
};

/** CPU seconds of the server ÷ seconds, while a `timed` request of that name was under way. */
export const coresDuring = (name) => (run) => {
  const cores = named(run, name)
    .filter(({ latencyMs: ms }) => ms >= LEAST_MS)
    .map(({ cpuUs, sentMs, endMs }) => cpuUs / 1000 / (endMs - sentMs));
  return middle(cores);
};

/** Seconds from the first request to the last answer. */
export const wallS = ({ costs }) => costs.wallS;

/** CPU seconds of the server from the first request to the last answer. */
export const cpuS = ({ costs }) => costs.cpuS;

/** CPU seconds of the server ÷ seconds. */
export const cores = ({ costs }) =>
  costs.wallS * 1000 >= LEAST_MS ? costs.cpuS / costs.wallS : null;

/** The most memory that was seen resident, MB of 10^6 bytes. */
export const peakRssMb = ({ costs }) => costs.peakRssBytes / 1e6;

/** Memory of the server at the end, MB of 10^6 bytes. */
export const rssMb = ({ costs }) => costs.rssBytes / 1e6;

/** The most threads of the server that were seen. */
export const peakThreads = ({ costs }) => costs.peakThreads;

/** The most open descriptors of the server that were seen. */
export const peakDescriptors = ({ costs }) => costs.peakDescriptors;

/**
 * Metric of one of the load's own figures; null where the load has none of that name.
 *
 * @param {string} name as `requests_per_s`
 */
export const value = (name) => (run) => run.values?.[name] ?? null;

/**
 * Latency of the load, ms; null where it has none.
 *
 * @param {'p50' | 'p90' | 'p99' | 'p999' | 'max' | 'mean'} which
 */
export const latency = (which) => (run) => run.latency?.[which] ?? null;

/**
 * Spread of the latencies, without a unit: a percentile ÷ another, by default p99 ÷ p50.
 *
 * @param {'p90' | 'p99' | 'p999' | 'max'} [high]
 * @param {'p50' | 'mean'} [low]
 */
export const latencySpread =
  (high = 'p99', low = 'p50') =>
  (run) =>
    ratio(latency(high)(run), latency(low)(run));

/**
 * CPU time of the server for one of what it did, µs, user and system.
 *
 * @param {string} [name] of the load's figure that says how many there were, as the next ones; default `answers`
 */
export const cpuUsPer = (name) => per(({ costs }) => costs.cpuS * 1e6, name);

/** CPU time in the kernel alone. */
export const systemCpuUsPer = (name) => per(({ costs }) => costs.cpuSystemS * 1e6, name);

/** Context switches of all threads of the server for one, voluntary and not. */
export const switchesPer = (name) =>
  per(({ costs }) => costs.voluntarySwitches + costs.involuntarySwitches, name);

/** Times that a thread of the server went to sleep, for one. */
export const voluntarySwitchesPer = (name) => per(({ costs }) => costs.voluntarySwitches, name);

/** Times that a thread of the server was made to wait for the processor, for one. */
export const involuntarySwitchesPer = (name) => per(({ costs }) => costs.involuntarySwitches, name);

/** Context switches of the server a second. */
export const switchesPerS = ({ costs }) =>
  ratio(costs.voluntarySwitches + costs.involuntarySwitches, costs.wallS);

/** System calls of the server for one; null where they cannot be counted. */
export const syscallsPer = (name) => per(({ costs }) => costs.syscalls, name);

/**
 * Marks the function of a metric as one that needs `gcMs`, `gcCount` or `allocatedBytes` of the probe: each collection is
 * then looked at, which costs the server a part of a millisecond. Else none is, and to read these fails.
 *
 * @template {(run: import('./measure.js').Run) => number | null} Of
 * @param {Of} of
 * @returns {Of}
 */
export const ofCollections = (of) => Object.assign((run) => of(run), { needsCollections: true });

/**
 * Reports whether one of the metrics of experiments needs that.
 *
 * @param {Pick<import('./format.js').Experiment, 'metrics'>[]} experiments
 */
export const needCollections = (experiments) =>
  experiments.some(({ metrics }) => metrics.some(({ of }) => of.needsCollections === true));

/**
 * Calls of the C library's allocator by the server for one: allocations and frees. V8's objects are not among them. Each call is counted
 * where a metric of the experiment asks for it, which costs a few ns of the server; null without a C compiler or glibc.
 */
export const allocatorCallsPer = (name) =>
  Object.assign(
    per(({ costs: { allocator } }) => allocator && allocator.allocations + allocator.frees, name),
    { needsAllocations: true },
  );

/**
 * Reports whether one of the metrics of experiments needs these.
 *
 * @param {Pick<import('./format.js').Experiment, 'metrics'>[]} experiments
 */
export const needAllocations = (experiments) =>
  experiments.some(({ metrics }) => metrics.some(({ of }) => of.needsAllocations === true));

/** Bytes allocated on the heap of V8 for one, without Buffers; null without a probe, as all that follow. */
export const allocatedBytesPer = (name) =>
  ofCollections(per(({ probe }) => probe?.allocatedBytes, name));

/** Allocated on the heap of V8, MB of 10^6 bytes. */
export const allocatedMb = ofCollections(({ probe }) => scaled(probe?.allocatedBytes, 1e-6));

/** In use on the heap of V8, mean over the window, MB of 10^6 bytes. */
export const heapUsedMb = ({ probe }) => scaled(probe?.heapUsedBytes, 1e-6);

/** Share of the heap's committed memory that is not in use, 0 to 1, over the window. */
export const fragmentation = ({ probe }) => probe?.fragmentation ?? null;

/** Lateness of a timer that is due at any time: the 99th percentile, ms, of the process where it is worst. */
export const loopDelayP99Ms = ({ probe }) => probe?.loopDelayMs?.p99 ?? null;

/** The latest that one was, ms. */
export const loopDelayMaxMs = ({ probe }) => probe?.loopDelayMs?.max ?? null;

/** Busy share of the event loop, 0 to 1, of the busiest process. */
export const utilization = ({ probe }) => probe?.utilization ?? null;

/** Time in the garbage collector, ms. */
export const gcMs = ofCollections(({ probe }) => probe?.gcMs ?? null);

/** Time of collections per unit of what the server did, µs. */
export const gcUsPer = (name) => ofCollections(per(({ probe }) => scaled(probe?.gcMs, 1000), name));

/**
 * A counter of Millrace's objects in the server, in sum; null without a probe or where there is none of that kind.
 *
 * @param {string} kind as `emitter`
 * @param {string} counter as `delivered`, or `refused.overloaded`
 */
export const counter = (kind, counter) => (run) => run.probe?.millrace[kind]?.[counter] ?? null;

const per =
  (of, name = 'answers') =>
  (run) =>
    ratio(of(run), value(name)(run));

/** null where there is none. */
const ratio = (a, b) => (Number.isFinite(a) && b > 0 ? a / b : null);

const scaled = (amount, by) => (Number.isFinite(amount) ? amount * by : null);

const middle = (values) => (values.length === 0 ? null : median(values));

const lower = (name, title, unit, of) => ({ name, title, unit, better: 'lower', of });

const cpu = lower('cpu_us_per_answer', 'CPU time of an answer', 'µs', cpuUsPer());

const latencies = [
  lower('p50_ms', 'latency, median', 'ms', latency('p50')),
  lower('p99_ms', 'latency, 99th percentile', 'ms', latency('p99')),
];

/** Latencies of a closed loop, which asks less often when the server is slow, say nothing about an open one. */
const shownLatencies = latencies.map(({ better, ...metric }) => metric);

const answers = {
  name: 'answers_per_s',
  title: 'answers',
  unit: '1/s',
  of: value('answers_per_s'),
};

const others = [
  lower('loop_p99_ms', 'event loop delay, 99th percentile', 'ms', loopDelayP99Ms),
  { name: 'utilization', title: 'event loop in use', unit: '', of: utilization },
  lower('peak_rss_mb', 'memory, most', 'MB', peakRssMb),
  lower('switches_per_answer', 'context switches of an answer', '', switchesPer()),
];

/**
 * The first one is what the experiment is about: at a given rate what an answer costs, otherwise how many there are.
 *
 * @param {boolean} isOpen whether the load's rate is given: then the number of answers says nothing about the server
 * @returns {import('./format.js').Metric[]} what matters most first
 */
export const usualMetrics = (isOpen) =>
  isOpen
    ? [cpu, ...latencies, answers, ...others]
    : [{ ...answers, better: 'higher' }, cpu, ...shownLatencies, ...others];
