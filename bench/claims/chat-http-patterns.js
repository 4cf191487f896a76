import { cpuPerMessage, cpuUse, p50, p99, spread } from './chat/metrics.js';
import { ANY, CPU_HIGH, SOURCE } from './chat/paper.js';
import { arms } from './chat/service.js';

const { direct, adaptive, adaptive50 } = arms({ stocked: true, gathers: false });

export const question =
  'Does the pattern of HTTP requests to the chat change what batching brings?';

export const about =
  'The patterns of chat-patterns over HTTP, in an open loop: steady; spikes of five times the base rate in one second of ' +
  'five; a ramp from a tenth to the whole rate; sustained, that is without warm-up; mixed, where three requests of ten ' +
  'read a page of history and the others save a message. HTTP requests have no priority in the chat, so that of the ' +
  'paper’s mixed priorities only the mixture is left. In the other patterns all save a message. 600 requests a second on ' +
  'average, the ramp up to 1,200; up to 256 are under way at a time. Runs of the paper’s size measure for 20 s, those of medium size for 3 or 5 s, quick ones for 1 s.';

export const claim = [
  {
    text: 'Stability during sudden traffic spikes significantly improved, of HTTP requests',
    source: `${SOURCE}, section 7.6, without a figure`,
    metric: 'p99_ms',
    cases: ['spikes'],
    atLeast: ANY,
  },
  {
    text: 'CPU utilization up to 35.2 % lower at high concurrency, of HTTP requests',
    source: `${SOURCE}, section 7.5`,
    metric: 'cores',
    cases: ['sustained', 'ramp'],
    atLeast: CPU_HIGH,
  },
];

export const control = direct;

export const treatment = [adaptive, adaptive50];

const MEAN = 600;
const READS = 0.3;

const saves = (rate, seconds) => ({
  ...{ name: 'message', method: 'POST', path: '/api/rooms/lobby/messages', rate, seconds },
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ from: 'somebody', text: 'x'.repeat(100) }),
  // Each has an id of its own.
  payload: ({ id }) => Number.isInteger(id),
});
const reads = (rate, seconds) => ({
  ...{ name: 'history', path: '/api/rooms/archive/messages', rate, seconds },
});

function requests({ label, rate }, seconds) {
  if (label !== 'mixed') return [saves(rate, seconds)];
  return [saves(rate * (1 - READS), seconds), reads(rate * READS, seconds)];
}

/** Seconds of a run. One second of five is a spike: a shorter run has none. */
const secondsOf = ({ label, size }) =>
  ({ quick: 1, medium: label === 'spikes' ? 5 : 3, paper: 20 })[size];

export const load = {
  kind: 'requests',
  requests: (params) => requests(params, secondsOf(params)),
  warmup: (params) =>
    params.label === 'sustained'
      ? undefined
      : requests(params, { quick: 0.4, medium: 1, paper: 2 }[params.size]),
  pattern: ({ label }) => (['spikes', 'ramp'].includes(label) ? label : 'steady'),
};

export const cases = [
  { label: 'steady', from: 'paper', rate: MEAN },
  { label: 'spikes', from: 'medium', rate: MEAN },
  { label: 'ramp', rate: 2 * MEAN },
  { label: 'sustained', from: 'medium', rate: MEAN },
  { label: 'mixed', from: 'paper', rate: MEAN },
];

export const metrics = [
  { ...cpuPerMessage, name: 'cpu_us_per_request', title: 'CPU per request' },
  ...[p50, p99, spread, cpuUse],
];

export const rounds = { medium: 6 };
