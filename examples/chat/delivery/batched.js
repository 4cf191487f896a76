import { natsRooms } from '@millrace/nats/rooms';
import { BatchEmitter, batch } from 'millrace';
import { readFile } from 'millrace/fs';
import { Rooms } from 'millrace/ws';
import { ChatError } from '../errors.js';
import { cutOff } from '../goodbye.js';
import { alone, elsewhere } from './presence.js';
import { sharedReads } from './shared-reads.js';

// Moderation must be on record whatever else is going on; presence can wait for a calmer moment.
const PRIORITIES = { system: 'high', moderation: 'high', upload: 'normal', presence: 'low' };

/**
 * Events travel together: the frames of a loop turn leave each socket in one write, the messages that wait for a commit
 * share the next transaction, files that are asked for in one turn are read together, and events without a listener are kept for the one that comes late.
 */
export async function createBatched({
  policy,
  maxDelay,
  broker,
  digests,
  storage,
  readPage,
  limits,
  onSlow,
  onDropped,
  onLost,
  onError,
  onAlone,
}) {
  const rooms = new Rooms({
    policy,
    maxDelay,
    maxQueue: limits.pendingFrames,
    maxPending: limits.pendingBytes,
    slow: 'close',
    // Rooms of the same name on other servers hear it, too. Without the broker each server goes on alone.
    ...(broker !== undefined && {
      across: natsRooms({ broker, heartbeat: limits.serverHeartbeatMs }),
      onPresence: (change) => presence.changed(change),
    }),
    onSlow({ socket }) {
      cutOff(socket);
      onSlow();
    },
  });

  if (broker !== undefined) rooms.ready().catch(onAlone);
  const presence = broker === undefined ? alone(rooms, publish) : elsewhere(rooms, send);

  // While one transaction commits, the rows of the next one gather.
  const insert = batch((rows) => storage.insertMany(rows), {
    policy,
    maxDelay,
    maxBatch: limits.insertBatch,
    maxQueue: limits.pendingInserts,
  });

  // Not under `fixed`: it would delay each page by `maxDelay`, also where one request alone asks for it.
  const reads =
    policy === 'adaptive'
      ? sharedReads(readPage, {
          maxDelay,
          maxBatch: limits.readBatch,
          maxQueue: limits.pendingReads,
        })
      : null;

  // On worker threads: ten megabytes would hold up everybody's messages. It changes nothing, so it may run again.
  const filename = new URL('../digest.js', import.meta.url);
  const pool = digests ? new (await import('@millrace/pool')).Pool({ filename, retry: 2 }) : null;

  const emitter = new BatchEmitter({ policy, maxDelay, onLost: () => onLost() });
  for (const [type, priority] of Object.entries(PRIORITIES)) {
    emitter.configure(type, { priority, retain: { max: limits.retainedEvents } });
  }
  emitter.on('error', onError);

  // The queue is full: LOW frames are left out, for the others room is made. @returns {boolean} whether to try again
  function makeRoom(error, priority) {
    if (error.code !== 'MILLRACE_E_OVERLOADED') throw error;
    if (priority === 'low') {
      onDropped();
      return false;
    }
    rooms.flush();
    return true;
  }

  function publish(room, frame, options) {
    try {
      return rooms.publish(room, frame, options);
    } catch (error) {
      return makeRoom(error, options?.priority) ? rooms.publish(room, frame, options) : 0;
    }
  }

  function send(ws, frame, priority = 'normal') {
    try {
      rooms.send(ws, frame, { priority });
    } catch (error) {
      if (makeRoom(error, priority)) rooms.send(ws, frame, { priority });
    }
  }

  return {
    policy,
    maxDelay: maxDelay ?? null,
    ...presence,
    leave: (ws, room) => rooms.leave(ws, room),
    publish,
    send,

    end(ws, code, reason) {
      rooms.end(ws, code, reason);
      // What was sent to it may be held that long before the close can follow.
      cutOff(ws, maxDelay);
    },

    async save(row) {
      try {
        return await insert(row);
      } catch (error) {
        if (error.code !== 'MILLRACE_E_OVERLOADED') throw error;
        throw new ChatError('overloaded', 'Too many messages are waiting to be saved; try again.');
      }
    },

    history: reads?.history ?? readPage,
    readFile,
    digest: pool === null ? undefined : (path) => pool.run(path),

    bus: {
      on: (type, listener) => emitter.on(type, listener),
      emit(type, event) {
        // Refused when its queue is full: that costs the record of this event, never the action it is about.
        try {
          emitter.emit(type, event);
        } catch (error) {
          onError(error);
        }
      },
    },

    settled: () => insert.flush(),

    flush() {
      rooms.flush();
      emitter.flush();
    },

    async close() {
      await insert.close({ discard: true });
      await reads?.close();
      emitter.close();
      rooms.close();
      // What other servers are to hear is on its way.
      await rooms.closed();
      await pool?.close();
    },

    stats() {
      const fanout = rooms.stats();
      const inserts = insert.stats();
      const events = emitter.stats();
      return {
        frames: fanout.deliveries,
        writes: fanout.sends,
        batches: inserts.batches,
        items: inserts.delivered,
        unhandled: events.unhandled,
        slow: fanout.slowClosed,
        queues: {
          inserts: inserts.queued,
          ...(reads !== null && { reads: reads.queued() }),
          frames: fanout.queued,
          events: events.queued,
          retained: events.retained.count,
        },
      };
    },
  };
}
