import { growth } from './chat/growth.js';
import { coresInUse, cpuPerMessage, messagesPerSecond, p50, rateSpread } from './chat/metrics.js';
import { ANY, MESSAGES, SOURCE } from './chat/paper.js';
import { arms, clients, ROOM } from './chat/service.js';

const { direct, fixed50, fixed200, adaptive } = arms();

export const question = 'How many messages a second can the chat deliver?';

export const about =
  'Closed loop: each client has so many messages under way and sends the next when one of its own has come back, which is ' +
  'after its commit. With one under way, as clients of autocannon have, a fixed hold bounds what clients ask for, whatever ' +
  'the server could do: that is what a hold costs people who wait for their answer. With eight it is bounded less. ' +
  'Rooms of 50, 100 bytes; each delivery counts. How even the rate is, is told of quarters of a second. ' +
  ' Latencies of a closed loop say how long such a client waits and no more.';

export const claim = [
  {
    text: 'Message throughput 58.82 % higher',
    source: `${SOURCE}, section 7.10 and table 3`,
    metric: 'msgs_per_s',
    atLeast: MESSAGES,
  },
  {
    text: 'More predictable and consistent performance (required)',
    source: `${SOURCE}, section 4.3.2, without a figure`,
    metric: 'rate_spread_percent',
    atLeast: ANY,
  },
];

export const control = direct;

export const treatment = [fixed50, fixed200, adaptive];

export const load = {
  ...clients,
  mode: 'closed',
  connections: (params) => params.connections,
  rooms: (params) => params.connections / ROOM,
  inflight: ({ inflight }) => inflight,
  // Long enough for five quarters of a second: how even the rate is cannot be told from less.
  seconds: (params) => (params.size === 'quick' ? 1.3 : clients.seconds(params)),
};

export const cases = [
  { label: '200 clients', connections: 200, inflight: 1 },
  { label: '2,000 clients', connections: 2000, inflight: 1, from: 'medium' },
  { label: '2,000 clients, 8 under way', connections: 2000, inflight: 8, from: 'paper' },
];

export const metrics = [messagesPerSecond, rateSpread, cpuPerMessage, p50, coresInUse];

export const notes = (results) => growth(results, 'msgs_per_s', 'Messages a second');

/** Number of rounds by which each of three metrics can be told from chance, in quick runs too. */
export const rounds = { quick: 7, medium: 8, paper: 50 };
