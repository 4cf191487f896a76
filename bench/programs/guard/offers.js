/** What is offered to the servers. */

/** Nobody waits longer for an answer. */
export const patienceMs = 500;

/** Who asks in an open loop: the share of each class. A closed one has no classes. */
export const classes = { high: 0.2, normal: 0.5, low: 0.3 };

/** The path of a request, from a number of 0 to 1. */
export const paths = {
  work: () => '/work',
  async: () => '/async',
  mixed: (draw) => (draw < 0.9 ? '/short' : '/long'),
};
