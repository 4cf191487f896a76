/** Calls that are grouped into one: loads by key over the cheapest of round trips, and durable inserts into SQLite. */
import { armsOf } from '../lib/experiment.js';
import { ensureResults } from '../lib/results.js';

/** Inserts, by how many callers there are at a time; each inserts again when all have their answers. */
const inserts = { insert: { atOnce: 100, target: 10 }, 'insert single': { atOnce: 1 } };

export default {
  question: 'What grouping calls is worth',
  place: 40,
  rows: {
    insert: [
      '100 durable inserts at once, SQLite',
      [
        'items_per_s',
        'unbatched',
        { readme: '100 durable inserts at once into SQLite', beside: 'insert single' },
      ],
    ],
    'insert single': ['one at a time', ['items_per_s', 'unbatched']],
    'keys 1000': [
      '1,000 loads in a tick',
      ['items_per_s', 'dataloader', { figure: 'loads/s', readme: '1,000 loads by key in a tick' }],
    ],
  },
  experiments({ quick }) {
    const common = { rounds: quick ? 9 : 31, metrics: ['items_per_s'] };
    // Beside the results: a folder for temporary files may be in memory, where nothing is durable.
    const folder = ensureResults();
    return [
      {
        ...{ name: 'keys 1000', ...common },
        arms: armsOf(
          ['millrace', 'dataloader', 'millrace with keys', 'dataloader cache', 'unbatched'],
          (subject) => ['batch/keys.js', subject],
        ),
        comparisons: [
          { peers: { dataloader: undefined } },
          { ours: 'millrace with keys', peers: { 'dataloader cache': undefined } },
          { peers: { unbatched: undefined } },
        ],
      },
      ...Object.entries(inserts).map(([name, { atOnce, target }]) => ({
        ...{ name, ...common },
        arms: armsOf(['millrace', 'unbatched'], (subject) => [
          ...['batch/insert.js', subject, atOnce, folder],
        ]),
        peers: { unbatched: target },
      })),
    ];
  },
};
