/** The servers, in the order in which they are shown and take their turns; some keep copies of answers. */
export const SERVERS = [
  {
    name: 'unprotected',
    title: 'Unprotected',
    about: 'Fastify alone: whatever arrives waits its turn.',
  },
  {
    name: 'protected',
    title: 'under-pressure',
    about: '@fastify/under-pressure: 503 to all while the loop is over its limits.',
  },
  {
    name: 'load-aware',
    title: 'Load-aware',
    about: 'under-pressure, but answers from a cache where it has a copy.',
    keepsCopies: true,
  },
  {
    name: 'guarded',
    title: 'Guard',
    about: '@millrace/guard: 503 to what would wait too long, least important first.',
  },
  {
    name: 'guarded-cached',
    title: 'Guard with a cache',
    about: '@millrace/guard, but a cached copy in place of a 503 where it has one.',
    keepsCopies: true,
  },
];

export const NAMES = SERVERS.map(({ name }) => name);
