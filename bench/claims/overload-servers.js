import { bySize } from '@millrace/lab/experiment';
import { cases, metrics, serverArm } from './overload/servers.js';

export { cases, metrics };

export const question = 'What do the two servers of the article do under overload?';

export const about =
  'As the experiment overload, with the article’s own two servers: @fastify/under-pressure with its limits (loop delay 200 ' +
  'ms, utilization 0.8), which answers 503 while one is exceeded, and a load-aware one, which then answers from a cache.';

export const control = serverArm('unprotected', 'unprotected');
export const treatment = [
  serverArm('under-pressure', 'protected'),
  serverArm('load-aware', 'load-aware'),
];

export const load = {
  kind: 'program',
  timeoutS: 60,
  takes: bySize({ quick: 2.3, medium: 2.8, paper: 6 }),
};

const SOURCE = 'The Node.js event loop (Platformatic)';

export const claim = [
  {
    text: 'With under-pressure 96 answers with 200 where the unprotected server gives 31',
    source: SOURCE,
    metric: 'ok_per_s',
    arms: ['under-pressure'],
    cases: ['50 clients'],
    atLeast: 96 / 31,
  },
  {
    text: 'With under-pressure 19,000 requests are answered in any way, in place of 527',
    source: SOURCE,
    metric: 'requests_per_s',
    arms: ['under-pressure'],
    cases: ['50 clients'],
    atLeast: 19_000 / 527,
  },
  {
    text: 'The load-aware server gives the most 200s, more than 96 in place of 31',
    source: SOURCE,
    metric: 'ok_per_s',
    arms: ['load-aware'],
    cases: ['50 clients'],
    atLeast: 96 / 31,
  },
];

export const rounds = { quick: 7, paper: 50 };
