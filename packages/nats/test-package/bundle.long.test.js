import { bundled, testBundles } from '../../../scripts/lib/bundle-test.js';
import { natsServer, unable as skip } from '../test/nats.js';

const programs = {
  './events': { file: 'events', works: { args: [1, { two: 2 }] }, skip },
  './rooms': { file: 'rooms', works: { states: ['closed', 'closed'] }, skip },
  './socket-io': {
    file: 'socket-io',
    works: { type: 'function', stats: null, code: 'MILLRACE_E_INVALID_ARGUMENT' },
    skip,
  },
  './tasks': {
    file: 'tasks',
    works: { results: [2, 4, 6], stored: 3 },
    alone: bundled('a pool', '@millrace/pool'),
    skip,
  },
};

testBundles('nats', programs, async (t) => {
  const { url } = await natsServer(t, { jetstream: true });
  return { BROKER: url };
});
