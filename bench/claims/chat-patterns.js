import { cpuPerMessage, cpuUse, p50, p99, spread } from './chat/metrics.js';
import { ANY, CPU_HIGH, SOURCE } from './chat/paper.js';
import { arms, atEqualLoad, SIZE } from './chat/service.js';

const { direct, adaptive, adaptive50 } = arms();

export const question = 'Does the pattern of the load change what batching brings?';

export const about =
  'The paper’s patterns, equal in all arms: steady; spikes of five times the base rate in one second of five; a ramp from ' +
  'a tenth to the whole rate; sustained, that is without warm-up; mixed priorities, where 15 % are signs of typing (low). ' +
  'A fifth of the clients sends four fifths of the messages. 40,000 deliveries a second on average, the ramp up to 80,000. ' +
  `Fixed holds are left out; chat-equal has them. ${SIZE}`;

export const claim = [
  {
    text: 'Stability during sudden traffic spikes significantly improved',
    source: `${SOURCE}, section 7.6, without a figure`,
    metric: 'p99_ms',
    cases: ['spikes'],
    atLeast: ANY,
  },
  {
    text: 'CPU utilization up to 35.2 % lower at high concurrency',
    source: `${SOURCE}, section 7.5`,
    metric: 'cores',
    cases: ['sustained', 'ramp'],
    atLeast: CPU_HIGH,
  },
];

export const control = direct;

export const treatment = [adaptive, adaptive50];

/** Seconds from spike to spike, of one second each: a shorter run has none. */
const SPIKES_EVERY_S = 5;
const isMediumSpikes = ({ label, size }) => label === 'spikes' && size === 'medium';

export const load = {
  ...atEqualLoad,
  users: 'blend',
  pattern: ({ label }) => (label === 'mixed priority' ? 'mixed' : label),
  seconds: (params) => (isMediumSpikes(params) ? SPIKES_EVERY_S : atEqualLoad.seconds(params)),
  warmup: (params) => (params.label === 'sustained' ? 0 : atEqualLoad.warmup(params)),
};

const MEAN = 40_000;

export const cases = [
  { label: 'steady', from: 'paper', rate: MEAN },
  { label: 'spikes', from: 'medium', rate: MEAN },
  { label: 'ramp', rate: 2 * MEAN },
  { label: 'sustained', from: 'medium', rate: MEAN },
  { label: 'mixed priority', from: 'paper', rate: MEAN },
];

export const metrics = [cpuPerMessage, p50, p99, spread, cpuUse];

export const rounds = { medium: 6 };
