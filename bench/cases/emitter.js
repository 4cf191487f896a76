/** Events of one type to one listener, whose sum shows that it got all of them. */
import { armsOf } from '../lib/experiment.js';

/** Limit in ns for keeping an event and delivering it later. */
const lateBoundNs = 2000;

const arms = (name, subjects, wanted = 'all') =>
  armsOf(subjects, (subject) => ['emitter/arm.js', name, subject, wanted]);
const lost = (rounds, arm) =>
  Math.round((1 - Math.min(...rounds.map((round) => round[arm].delivered_share))) * 1000);

export default {
  question: 'What an event costs',
  place: 130,
  rows: {
    direct: ['policy `direct`', ['ns_per_event', 'node:events']],
    adaptive: ['policy `adaptive`, delivery included', ['ns_per_event', 'millrace direct']],
    'late listener': [
      'events before their listener, which `node:events` drops',
      ['delivered_share', null, { figure: 'delivered' }],
    ],
  },
  experiments({ quick }) {
    const rounds = quick ? 9 : 31;
    const metrics = ['ns_per_event'];
    return [
      {
        ...{ name: 'direct', rounds, metrics },
        arms: arms('direct', ['millrace direct', 'node:events', 'eventemitter3']),
        // At most 1.5 times the peer's time.
        peers: { 'node:events': 1 / 1.5, eventemitter3: undefined },
      },
      {
        ...{ name: 'adaptive', rounds, metrics },
        arms: arms('adaptive', [
          ...['millrace adaptive', 'millrace direct', 'node:events', 'eventemitter3'],
        ]),
        peers: { 'millrace direct': 1 / 3, 'node:events': undefined, eventemitter3: undefined },
      },
      {
        ...{ name: 'late listener', rounds },
        arms: arms('late', ['millrace retaining', 'node:events'], 'may lose'),
        bounds: [
          ['ns_per_event', lateBoundNs],
          ['delivered_share', 1],
        ],
        notes: (all) => [
          `late listener: of 1,000 events that come before their listener, millrace loses ${lost(all, 'millrace retaining')}, ` +
            `node:events loses ${lost(all, 'node:events')}`,
        ],
      },
    ];
  },
};
