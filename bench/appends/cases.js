/**
 * Cases: calls at a time on one file, each with a record of 100 bytes; again as soon as all of them are done. Of many at a time
 * `beside` names the case in which nothing can be gathered: no short table shows one without the other.
 */
export const recordBytes = 100;
export const cases = {
  'durable C=100': {
    atOnce: 100,
    durable: true,
    targets: { appendFile: 8 },
    beside: 'durable C=1',
  },
  'durable C=10': { atOnce: 10, durable: true, targets: {} },
  'durable C=1': { atOnce: 1, durable: true, targets: {} },
  'buffered C=100': { atOnce: 100, durable: false, targets: {} },
};
