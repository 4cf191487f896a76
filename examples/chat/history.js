import { pageBody } from './wire.js';

/**
 * Reads pages of history for the HTTP side.
 *
 * @returns {(page: {room: string, before: number | null, limit: number}) => Promise<string>} makes one query and encodes its
 *   rows once, as the body of a response; rejects with the ChatError `unknown_room`, or that of the storage
 */
export function pageReader({ storage, rooms, counters }) {
  return async ({ room, before, limit }) => {
    counters.historyQueries += 1;
    const messages = await storage.history(room, before, limit);
    if (messages.length === 0) await rooms.refuseUnknown(room);
    return pageBody(room, messages);
  };
}
