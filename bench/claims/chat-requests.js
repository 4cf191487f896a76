import { cpuUsPer, latency, value } from '@millrace/lab/metrics';
import { REQUESTS, REQUESTS_PER_S, SOURCE } from './chat/paper.js';
import { arms, httpClients, SIZE } from './chat/service.js';

const { direct, adaptive, adaptive5, adaptive50 } = arms({ stocked: true });

export const question = 'How many HTTP requests a second can the chat answer?';

export const about =
  'Closed loop by autocannon, as in the paper: each connection asks again when it has its answer. `history` reads the ' +
  'latest 50 messages of a room from SQLite (9 KB; the paper’s control answered with 9.7 KB). With `adaptive`, requests for ' +
  'the same page that arrive while it is being read share the next query and its encoding. All clients ask for one page ' +
  'here, which is the most that sharing can save; requests for different pages share nothing. `message` saves one: those ' +
  'that arrive while a commit is under way share the next one. `adaptive` delays neither; `adaptive, up to 5 ms` and ' +
  '`adaptive, up to 50 ms` may, which a closed loop charges to the number of requests. The web page is left out, as ' +
  `autocannon asks for it no faster than the chat answers. Fixed holds are left out; chat-messages has them. ${SIZE}`;

export const claim = {
  text: 'Request handling capacity 64.44 % higher, from 1.9 to 3 thousand requests a second',
  source: `${SOURCE}, section 7.6`,
  metric: 'requests_per_s',
  atLeast: REQUESTS,
  says: {
    met: 'The gain is of shared commits (message) and reads (history), not of HTTP.',
  },
};

export const control = direct;

export const treatment = [adaptive, adaptive5, adaptive50];

export const load = {
  ...httpClients,
  requests: ({ request }) => [request],
  // Ids differ with the number of messages that were saved before.
  normalize: ({ label }) => (label === 'message' ? /\d+/ : undefined),
};

export const cases = [
  {
    label: 'history',
    request: { method: 'GET', path: '/api/rooms/archive/messages' },
    paper: REQUESTS_PER_S,
  },
  {
    label: 'message',
    request: {
      method: 'POST',
      path: '/api/rooms/lobby/messages',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ from: 'somebody', text: 'x'.repeat(100) }),
    },
  },
];

export const metrics = [
  {
    ...{ name: 'requests_per_s', title: 'requests answered', unit: '1/s', better: 'higher' },
    of: value('answers_per_s'),
  },
  {
    ...{ name: 'cpu_us_per_request', title: 'CPU per request', unit: 'µs', better: 'lower' },
    of: cpuUsPer(),
  },
  {
    ...{ name: 'p50_ms', title: 'latency, median', unit: 'ms', better: 'lower' },
    of: latency('p50'),
  },
  {
    ...{ name: 'p99_ms', title: 'latency, p99', unit: 'ms', better: 'lower' },
    of: latency('p99'),
  },
];
