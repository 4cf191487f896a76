/**
 * Calls whose result may never come, because an answer was lost with the connection. A worker removes a task from the stream
 * once its client has confirmed the result, or after it has given the result up. So a task that is no longer in the stream
 * has no result to come; and a message in the stream tells by its batch which client stored it. Two cases need that:
 *
 * - After a reconnect, stored tasks are looked for: the results of those that are gone were given up meanwhile,
 *   MILLRACE_E_RESULT_LOST.
 * - The broker says that a task with an id is a duplicate. If it was sent once, another task is meant: MILLRACE_E_DUPLICATE.
 *   If it was sent more than once, the first one may have been stored and its acknowledgement lost: the message in the
 *   stream tells.
 */

import { MillraceError, show } from '@millrace/base/errors';
import { sleep } from '@millrace/base/timers';
import type { JetStreamManager } from '../client-types.js';
import { failure } from '../connect.js';
import { decodeBatch, type WireBatch } from '../wire.js';
import type { ClientContext } from './context.js';
import type { Stored } from './publisher.js';
import type { Call } from './send-queue.js';

/** Most failed requests to a connected broker, and the time in ms before the next. */
const maxFailures = 5;
const retryMs = 500;
/** A worker may be giving up a result as its client comes back: tasks are looked for at once, and when that is over. */
const looksMs = [0, 2000];

/** Looks after each reconnect which tasks of `stored()` are still in the stream, and gives `onLost` an error for each of the others. */
export function watchForLostResults(
  context: ClientContext,
  stored: () => Call[],
  onLost: (call: Call, error: MillraceError) => void,
): void {
  const { link } = context;
  let connections = 0;
  link.on('up', () => void look(++connections));

  async function look(connection: number): Promise<void> {
    // The next connection looks anew.
    const isOver = () => connection !== connections || link.state !== 'up';
    for (const afterMs of looksMs) {
      if (stored().length === 0) return;
      await sleep(afterMs, { ref: false });
      for (const call of await removed(isOver)) onLost(call, resultLost(call));
    }
  }

  async function removed(isOver: () => boolean): Promise<readonly Call[]> {
    for (let failures = 0; failures < maxFailures && !isOver(); failures++) {
      try {
        return await removedCalls(context, stored(), isOver);
      } catch {
        await sleep(retryMs, { ref: false });
      }
    }
    return [];
  }
}

/**
 * The error of a call of whose id a task was stored before, if its result goes to another client. Null if this call stored
 * it, or once `isOver` says that nobody waits any more.
 */
export async function errorOfDuplicate(
  context: ClientContext,
  call: Call,
  { tries }: Stored,
  isOver: () => boolean,
): Promise<MillraceError | null> {
  // The first time it cannot have been this call.
  for (let failures = 0; tries > 1; ) {
    if (isOver()) return null;
    try {
      if ((await removedCalls(context, [call], isOver)).length === 0) return null;
      break;
    } catch (error) {
      if (context.link.state === 'up' && ++failures === maxFailures) return unknown(call, error);
      await sleep(retryMs);
    }
  }
  if (isOver()) return null;
  context.counts.duplicates++;
  return new MillraceError(
    'MILLRACE_E_DUPLICATE',
    `a task of the id ${show(call.id)} was stored before, within the duplicateWindow of the stream; its result goes to who stored it${tries > 1 ? ', or was given up while this client was away' : ''}`,
  );
}

const resultLost = ({ id }: Call): MillraceError =>
  new MillraceError(
    'MILLRACE_E_RESULT_LOST',
    `the task ${show(id)} is done or a dead letter, and its result was given up, as this client was away from the broker for longer than the replyTimeout of the workers; raise that, or let the function store results that are needed later`,
  );

function unknown({ id }: Call, cause: unknown): MillraceError {
  return failure(
    `a task of the id ${show(id)} was stored before, and the broker does not tell whose it is: ${(cause as Error).message}; it runs all the same`,
    cause,
  );
}

/**
 * Calls whose tasks are nowhere in the stream. Costs a request for each message of the calls; if one is gone, one for each
 * message that is stored behind it. `isOver` ends it early, with none. Rejects when the broker does not answer.
 */
async function removedCalls(
  context: ClientContext,
  calls: readonly Call[],
  isOver: () => boolean,
): Promise<Call[]> {
  const { link, names } = context;
  const { jsm } = await link.jetstream();
  const removed: Call[] = [];
  const missing = new Set<Call>();
  for (const pack of byMessage(calls)) {
    if (isOver()) return [];
    const message = await jsm.streams.getMessage(names.stream, { seq: pack[0]!.sequence });
    if (message === null) for (const call of pack) missing.add(call);
    else {
      // Where a task of its id was there before, the message is another client's.
      const batch = decodeBatch(message.data);
      removed.push(...pack.filter((call) => !has(context, batch, call)));
    }
  }
  await dropFound(context, jsm, missing, isOver);
  return isOver() ? [] : [...removed, ...missing];
}

/** Takes out those that were stored again. */
async function dropFound(
  context: ClientContext,
  jsm: JetStreamManager,
  missing: Set<Call>,
  isOver: () => boolean,
): Promise<void> {
  let seq = Math.min(...[...missing].map(({ sequence }) => sequence));
  while (missing.size > 0 && !isOver()) {
    // A worker stores a task again before it removes it, and always at the end: on the way there none is passed by.
    const query = { seq, next_by_subj: '>' } as { seq: number };
    const message = await jsm.streams.getMessage(context.names.stream, query);
    if (message === null) return;
    const batch = decodeBatch(message.data);
    for (const call of missing) if (has(context, batch, call)) missing.delete(call);
    seq = message.seq + 1;
  }
}

function byMessage(calls: readonly Call[]): Iterable<Call[]> {
  const packs = new Map<number, Call[]>();
  for (const call of calls) {
    const pack = packs.get(call.message);
    if (pack === undefined) packs.set(call.message, [call]);
    else pack.push(call);
  }
  return packs.values();
}

/** Finds a task by its id, not by its number alone: of a pack some tasks may be stored again, and others be done. */
function has({ link }: ClientContext, batch: WireBatch | null, call: Call): boolean {
  if (batch?.sender !== link.node || batch.sequence !== call.message) return false;
  return batch.records.some(({ data }) => Buffer.compare(data, call.record.data) === 0);
}
