/** Transfers: the side that connects, the arrival of the bytes, and their use. */

/** Connections at a time, and the bytes that one download or upload has. */
export const clients = 128;
export const transferBytes = 5 * 1024 * 1024;

/** A long path: a window of this many bytes arrives for each client once per round trip. */
const long = { windowBytes: 128 * 1024, roundTripMs: 40 };

export const transfers = {
  '128 clients': { side: 'client', consumer: 'check' },
  upload: { side: 'server', consumer: 'check' },
  'empty callback': { side: 'client', consumer: 'count' },
  'long rtt': { side: 'client', consumer: 'check', path: long },
};
