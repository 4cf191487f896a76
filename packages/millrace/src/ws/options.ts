/** What users give to `Rooms`: options of it and of a message, names, sockets, how a socket is closed; and the checks that keep bad values out. */

import { MillraceError, show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import { classOf, NORMAL, type Priority, priorityField } from '@millrace/base/priority';
import * as is from '@millrace/base/schema';
import { orderedFields, type QueueOptions } from '../engine/options.js';
import type { Across, AcrossStats } from './across.js';
import { type Data, Frame } from './frame.js';
import type { Member, SlowInfo, SlowPolicy } from './member.js';
import type { OnPresence } from './presence.js';
import type { WebSocket } from './ws-class.js';

/** Options of `Rooms`. */
export interface RoomsOptions<Stats extends AcrossStats = AcrossStats>
  extends Partial<Omit<QueueOptions, 'order'>> {
  /**
   * Bytes that one socket may leave untaken: 1 to 2^53 - 1, default 1 MiB. As much again may wait for permessage-deflate while
   * the client keeps up.
   */
  maxPending?: number;
  /**
   * What to do with a socket beyond that. `close` (default): it is closed with 1013. `drop-low`: its oldest LOW frames are
   * left out, and it is closed when that is not enough. `drop-normal`: LOW, then NORMAL frames.
   */
  slow?: SlowPolicy;
  /**
   * Time in ms that messages may wait on their way to a socket that gets messages with a key: 0 (any time) to 60,000, default 250. It
   * is measured by pings, which the peer must answer. What would wait longer waits here, where a newer message of its key
   * supersedes it.
   */
  maxLag?: number;
  /** Told when a slow socket loses frames or is closed, right after the batch in which it happened. */
  onSlow?: (info: SlowInfo) => void;
  /** Makes the rooms one with those of other processes, as `natsRooms()` of `@millrace/nats/rooms` does. Default: none. */
  across?: Across<Stats>;
  /** Told at the end of a turn who joined and who left a room, in this process or another. */
  onPresence?: OnPresence;
}

/** Options of one message. */
export interface PublishOptions {
  /** `high` leaves first, `low` last. Default `normal`. */
  priority?: Priority;
  /** Send as a binary message. Default: for everything but strings. */
  binary?: boolean;
  /** A socket of this process that does not get it, such as a sender that has it already. Default: none. */
  except?: WebSocket;
  /**
   * Any value but undefined, with `across` a string or a number: a newer message for the same room, or socket, with this key supersedes
   * this one wherever it waits. So a slow reader gets the latest message of each key. Default: none.
   */
  key?: unknown;
}

export const roomsSchema = is.schema({
  ...orderedFields,
  maxPending: is.bytes(1, Number.MAX_SAFE_INTEGER, 1024 * 1024),
  slow: is.choice(['close', 'drop-low', 'drop-normal'], 'close'),
  maxLag: is.ms(0, 60_000, 250),
  onSlow: is.callback(),
  across: is.custom<Across>(
    'of natsRooms(), from @millrace/nats/rooms',
    (value) => typeof (value as Across | null)?.connect === 'function',
  ),
  onPresence: is.callback(),
} satisfies is.FieldsOf<RoomsOptions>);

export const sendSchema = is.schema({
  priority: priorityField,
  binary: is.boolean(),
  key: is.anything(),
});

export const publishSchema = is.schema({
  ...sendSchema.fields,
  // One that is no socket is nobody's.
  except: is.anything(),
} satisfies is.FieldsOf<PublishOptions>);

/** Throws MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. */
export function roomsSettings<Stats extends AcrossStats>(options: RoomsOptions<Stats>) {
  const parsed = parse('Rooms', options, roomsSchema);
  const { maxPending, slow, maxLag, onSlow, across, onPresence, ...queue } = parsed;
  return {
    queue,
    slow: { maxPending, slow, maxLag, onSlow },
    across: across as Across<Stats> | undefined,
    onPresence,
  };
}

/** A message of checked options, with the member that does not get it. */
export function frameOf(data: Data, options: PublishOptions, except: Member | null): Frame {
  const { binary = typeof data !== 'string', priority, key } = options;
  const level = priority === undefined ? NORMAL : classOf(priority);
  return new Frame(data, binary, level, except, key);
}

export function checkName(name: unknown): void {
  if (typeof name === 'string') return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the name of a room is ${show(name)}; it must be a string`,
  );
}

/** As ws checks them, but before anything is noted: when the close itself comes, it is too late to complain. */
export function checkClose(code: unknown, reason: unknown): void {
  const inRange = (from: number, to: number) => (code as number) >= from && (code as number) <= to;
  const valid =
    code === undefined ||
    (Number.isInteger(code) && (inRange(1000, 1003) || inRange(1007, 1014) || inRange(3000, 4999)));
  if (!valid) {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `the close code is ${show(code)}; it must be 1000 to 1003, 1007 to 1014, or 3000 to 4999`,
    );
  }
  if (reason === undefined || (typeof reason === 'string' && Buffer.byteLength(reason) <= 123)) {
    return;
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the reason of a close is ${show(reason)}; it must be a string of at most 123 bytes`,
  );
}

/** What we use of a socket must be there, including `_socket`, which ws does not document. */
export function checkSocket(socket: unknown): void {
  const candidate = socket as {
    readyState?: unknown;
    extensions?: unknown;
    _socket?: { on?: unknown; write?: unknown } | null;
  } | null;
  if (
    typeof candidate?.readyState === 'number' &&
    typeof candidate.extensions === 'string' &&
    (candidate.readyState !== 1 ||
      (typeof candidate._socket?.on === 'function' &&
        typeof candidate._socket.write === 'function'))
  ) {
    return;
  }
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the socket is ${show(socket)}; it must be a WebSocket of the ws package, version 8`,
  );
}
