/** Loads offered to the servers. */

/** Longest wait for a response. */
export const patienceMs = 500;

/** Share of requests per class in an open loop. A closed one has no classes. */
export const classes = { high: 0.2, normal: 0.5, low: 0.3 };

/** The path of a request, from a number of 0 to 1. */
export const paths = {
  work: () => '/work',
  async: () => '/async',
  mixed: (draw) => (draw < 0.9 ? '/short' : '/long'),
};
