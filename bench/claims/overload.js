import { bySize } from '@millrace/lab/experiment';
import { cases, metrics, serverArm } from './overload/servers.js';

export { cases, metrics };

export const question = 'How many good answers does an overloaded server give?';

export const about =
  'The application of examples/overload: each request keeps the only thread busy for about 25 ms, of a fixed size; ' +
  'checkouts, items and reports, of which the last two may be answered with a copy. The generator is a process of its own, ' +
  'hangs up after 2 s, and counts latency from when a request was due. The article counts all 200s, however late; so do its ' +
  'claims here. Good is a 200 within 500 ms. Its handler, machine and mix of requests are not known. Arms differ in what they refuse, so answers ' +
  'are counted and not compared; what is asked for is the same.';

export const control = serverArm('unprotected', 'unprotected');
export const treatment = [
  serverArm('guard', 'guarded'),
  serverArm('guard with a cache', 'guarded-cached'),
];

export const load = {
  kind: 'program',
  timeoutS: 60,
  takes: bySize({ quick: 2.3, medium: 2.8, paper: 6 }),
};

const ARTICLE = 'The Node.js event loop (Platformatic)';

export const claim = [
  {
    text: 'A load-aware server gives the most 200s, more than the 96 in place of 31 of one that only refuses',
    source: ARTICLE,
    metric: 'ok_per_s',
    arms: ['guard with a cache'],
    atLeast: 96 / 31,
    says: { met: 'Most of them are copies.' },
  },
  {
    text: 'A server that refuses under pressure gives 96 answers with 200 where the unprotected one gives 31',
    source: ARTICLE,
    metric: 'ok_per_s',
    arms: ['guard'],
    atLeast: 96 / 31,
    says: {
      refuted: 'Both give as many 200s as the handler allows; with refusing they come in time.',
    },
  },
  {
    text: 'Under pressure the latency is 338 ms in place of slightly above 1 s',
    source: ARTICLE,
    metric: 'ok_p50_ms',
    arms: ['guard'],
    atLeast: 1000 / 338,
  },
];

export const rounds = { quick: 7, paper: 50 };
