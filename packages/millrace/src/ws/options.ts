/** Input of users to `Rooms`: options of it and of a message, names, how a socket is closed; and the checks that keep bad values out. */

import { MillraceError, show } from '@millrace/base/errors';
import { parse } from '@millrace/base/options';
import { classOf, NORMAL, type Priority, priorityField } from '@millrace/base/priority';
import * as is from '@millrace/base/schema';
import { orderedFields, type QueueOptions } from '../engine/options.js';
import type { Across, AcrossStats, StreamFields } from './across.js';
import { isFieldText } from './event-stream.js';
import { type Data, Frame } from './frame.js';
import type { Connection, Member, SlowInfo, SlowPolicy } from './member.js';
import type { OnPresence } from './presence.js';

/** Options of `Rooms`. */
export interface RoomsOptions<Stats extends AcrossStats = AcrossStats>
  extends Partial<Omit<QueueOptions, 'order'>> {
  /**
   * Bytes of one member's backlog: 1 to 2^53 - 1, default 1 MiB. As much again may wait for permessage-deflate while the
   * client keeps up.
   */
  maxPending?: number;
  /**
   * Treatment of a member beyond `maxPending`. `close` (default): a socket is closed with 1013, the response of an event
   * stream destroyed. `drop-low`: its oldest LOW messages are skipped, and it is closed when that is not enough.
   * `drop-normal`: LOW, then NORMAL messages.
   */
  slow?: SlowPolicy;
  /**
   * Time in ms that messages may wait in transit to a socket that gets messages with a key: 0 (any time) to 60,000, default
   * 250. It is measured by pings, which the peer must answer. Messages that would wait longer are queued here, where a newer
   * message of their key supersedes them. Event streams have no pings: they ignore it.
   */
  maxLag?: number;
  /**
   * Interval in ms at which each event stream gets a comment, so that no proxy ends it as idle: 0 (none, default) to 2,147,483,647. Readers
   * do not see it.
   */
  keepAlive?: number;
  /** Called when a slow member loses messages or is closed, right after that batch. */
  onSlow?: (info: SlowInfo) => void;
  /** Joins the rooms with those of other processes, as `natsRooms()` of `@millrace/nats/rooms` does. Default: none. */
  across?: Across<Stats>;
  /** Called at the end of a turn with the members that joined and left a room, in this process or another. */
  onPresence?: OnPresence;
}

/** Options of one message. */
export interface PublishOptions {
  /** Priority of the message: `high` leaves first, `low` last. Default `normal`. */
  priority?: Priority;
  /** Sends a binary message, in base64 to event streams. Default: true for everything but strings. */
  binary?: boolean;
  /** Member of this process that does not get the message, such as its sender. Default: none. */
  except?: Connection;
  /**
   * Key of the message: any value but undefined, with `across` a string or a number. A newer message for the same room, or
   * socket, with this key supersedes this one wherever it waits. So a slow reader gets the latest message of each key.
   * Default: none.
   */
  key?: unknown;
  /** Type of the event, for event streams: text without line breaks. Default: none, which a browser calls `message`. */
  event?: string;
  /**
   * Id of the event, for event streams, which a browser sends as `Last-Event-ID` when it connects again: text without line
   * breaks. Default: none.
   */
  id?: string;
}

export const roomsSchema = is.schema({
  ...orderedFields,
  maxPending: is.bytes(1, Number.MAX_SAFE_INTEGER, 1024 * 1024),
  slow: is.choice(['close', 'drop-low', 'drop-normal'], 'close'),
  maxLag: is.ms(0, 60_000, 250),
  keepAlive: is.wholeMs(0, 2_147_483_647, 0),
  onSlow: is.callback(),
  across: is.custom<Across>(
    'of natsRooms(), from @millrace/nats/rooms',
    (value) => typeof (value as Across | null)?.connect === 'function',
  ),
  onPresence: is.callback(),
} satisfies is.FieldsOf<RoomsOptions>);

const lineOfText = is.text('text without line breaks or U+0000', isFieldText);

export const sendSchema = is.schema({
  priority: priorityField,
  binary: is.boolean(),
  key: is.anything(),
  event: lineOfText,
  id: lineOfText,
});

export const publishSchema = is.schema({
  ...sendSchema.fields,
  // One that is no socket is nobody's.
  except: is.anything(),
} satisfies is.FieldsOf<PublishOptions>);

/** Checks options. Throws MILLRACE_E_INVALID_OPTION for an unknown option or a bad value. */
export function roomsSettings<Stats extends AcrossStats>(options: RoomsOptions<Stats>) {
  const parsed = parse('Rooms', options, roomsSchema);
  const { maxPending, slow, maxLag, keepAlive, onSlow, across, onPresence, ...queue } = parsed;
  return {
    queue,
    slow: { maxPending, slow, maxLag, onSlow },
    keepAlive,
    across: across as Across<Stats> | undefined,
    onPresence,
  };
}

/** A message of checked options, with the member that does not get it. */
export function frameOf(data: Data, options: PublishOptions, except: Member | null): Frame {
  const { binary = typeof data !== 'string', priority, key, event, id } = options;
  const level = priority === undefined ? NORMAL : classOf(priority);
  const hasFields = event !== undefined || id !== undefined;
  const stream: StreamFields | null = hasFields ? { event, id } : null;
  return new Frame(data, binary, level, except, key, stream);
}

export function checkName(name: unknown): void {
  if (typeof name === 'string') return;
  throw new MillraceError(
    'MILLRACE_E_INVALID_ARGUMENT',
    `the name of a room is ${show(name)}; it must be a string`,
  );
}

/** Checks the arguments as ws does, but before anything is stored: when the close itself comes, it is too late to complain. */
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
