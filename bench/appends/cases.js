/** What is measured: calls at a time on one file, each with a record of 100 bytes. */
export const recordBytes = 100;
export const cases = {
  'durable C=100': { atOnce: 100, durable: true, targets: { appendFile: 8 } },
  'durable C=10': { atOnce: 10, durable: true, targets: {} },
  'buffered C=100': { atOnce: 100, durable: false, targets: {} },
};
