import { batch } from 'millrace';
import { ChatError } from '../errors.js';

/**
 * Pages of history in the arm `adaptive`: one query and one encoding for all requests that ask for the same page at the same time.
 *
 * A request joins a read that is still queued, never one that has left. So each query begins after all the requests that it serves, and
 * a request that follows an acknowledged message shows that message, as it does without sharing. On an idle server a
 * read leaves at once; while a batch of reads is under way, later requests are queued for the next one, which has each page once.
 * If a read fails, all the requests that share it get its error, and the other pages of its batch do not.
 *
 * @param {(page: {room: string, before: number | null, limit: number}) => Promise<string>} readPage
 * @param {{maxDelay?: number, maxBatch: number, maxQueue: number}} options those of `batch()`
 */
export function sharedReads(readPage, options) {
  // An Error in place of a body fails that page only.
  const settled = (page) => readPage(page).catch((error) => error);
  const read = batch((pages) => Promise.all(pages.map(settled)), {
    ...options,
    policy: 'adaptive',
    key: ({ room, before, limit }) => `${limit} ${before} ${room}`,
  });

  return {
    async history(page) {
      try {
        return await read(page);
      } catch (error) {
        if (error.code === 'MILLRACE_E_OVERLOADED') {
          throw new ChatError('overloaded', 'Too many requests wait for history; try again.');
        }
        if (error.code === 'MILLRACE_E_CLOSED') {
          throw new ChatError('stopping', 'The server is stopping.');
        }
        throw error;
      }
    },
    queued: () => read.stats().queued,
    close: () => read.close(),
  };
}
