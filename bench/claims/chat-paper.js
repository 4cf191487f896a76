import { coresInUse, cpuPerMessage, messagesPerSecond, p50, p99 } from './chat/metrics.js';
import { CPU, MESSAGES, SOURCE } from './chat/paper.js';
import { arms, clients, perSecond } from './chat/service.js';

const { direct, fixed50, adaptive50 } = arms();

export const question =
  'What does batching bring the chat at the size that was published: 2,000 clients, 20 s, fifty rounds?';

export const about =
  'The paper’s own experiment, with its number of clients, its time and its number of measurements. Rooms of 50, messages of 100 ' +
  'bytes, each saved in SQLite and delivered to its room. Both batching arms may delay a batch by 50 ms: `fixed` always does, `adaptive` ' +
  'where it saves CPU. Two loads: messages due at random times, the same in all arms, for the CPU that equal work takes, told of a message and so the same ratio as that of the CPU use; and a closed loop, ' +
  'in which each client sends its next message when its last one has come back, as those of autocannon do, for messages a second. ' +
  'The control is measured against itself in every third round. Runs take two and a half hours and may be made in parts.';

export const claim = [
  {
    text: 'CPU utilization 36.54 % lower under steady load',
    source: `${SOURCE}, section 7.5`,
    metric: 'cpu_us_per_msg',
    cases: [perSecond(50_000)],
    atLeast: CPU,
  },
  {
    text: 'Message throughput 58.82 % higher',
    source: `${SOURCE}, section 7.10 and table 3`,
    metric: 'msgs_per_s',
    cases: ['closed loop'],
    atLeast: MESSAGES,
  },
];

export const control = direct;

export const treatment = [fixed50, adaptive50];

export const load = {
  ...clients,
  mode: ({ rate }) => (rate === undefined ? 'closed' : 'open'),
  deliveriesRate: ({ rate }) => rate,
  inflight: ({ rate }) => (rate === undefined ? 1 : undefined),
  drain: ({ rate }) => (rate === undefined ? undefined : 60),
};

export const cases = [{ label: perSecond(50_000), rate: 50_000 }, { label: 'closed loop' }];

export const metrics = [cpuPerMessage, messagesPerSecond, p50, p99, coresInUse];

export const rounds = { paper: 50 };

/** The time of an A/A arm in each round would be half an hour. */
export const twinEvery = { paper: 3 };
