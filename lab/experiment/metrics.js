/** The usual metrics of an experiment, to be put together in its file. */
import { median } from '../run/figures.js';
import { hasFailed } from './equal.js';

/** A shorter time has too few of the kernel's steps of 10 ms to divide by. */
const LEAST_MS = 200;

const named = ({ answers }, name) => answers.filter(({ request }) => request.name === name);

/**
 * Median time from when a request of that name was due to the end of its answer, ms; null when some have failed
 * that may fail: those that wait longest are the first to.
 */
export const latencyMs = (name) => (run) => {
  const all = named(run, name);
  return all.some(hasFailed) ? null : middle(all.map((answer) => answer.latencyMs));
};

/** How many requests of that name have failed, of those that may fail. */
export const failures = (name) => (run) => named(run, name).filter(hasFailed).length;

/** The longest. */
export const longestMs = (name) => (run) => {
  const all = named(run, name).map((answer) => answer.latencyMs);
  return all.length === 0 ? null : all.reduce((a, b) => Math.max(a, b));
};

/** The time that a share of the answers, 0 to 1, was there within, ms. */
export const percentileMs = (name, share) => (run) => {
  const sorted = named(run, name)
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

const middle = (values) => (values.length === 0 ? null : median(values));
