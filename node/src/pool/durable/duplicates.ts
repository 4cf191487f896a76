/** Whether a call whose task the broker had already is the one that gets its result. */
import { setTimeout as sleep } from 'node:timers/promises';
import { failure } from '../../broker/failure.js';
import { decodeBatch } from '../../broker/wire.js';
import { MillraceError, show } from '../../errors.js';
import type { Call } from './call.js';
import type { ClientContext } from './client-context.js';
import type { Stored } from './publisher.js';

const retryMs = 500;
/** So often the broker may fail to say whose a task is, while it is there. */
const mostFailures = 5;

/**
 * The error of a call of whose id a task was stored before, and whose result it does not get: that goes to who stored it. Null
 * if it was this call, or once `isOver` says that nobody waits any more.
 */
export async function duplicateOf(
  context: ClientContext,
  call: Call,
  { sequence, tries }: Stored,
  isOver: () => boolean,
): Promise<MillraceError | null> {
  // The first time it cannot have been this one.
  for (let failures = 0; tries > 1; ) {
    if (isOver()) return null;
    try {
      if (await isThere(context, call, sequence, isOver)) return null;
      break;
    } catch (error) {
      if (context.link.state === 'up' && ++failures === mostFailures) return untold(call, error);
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

/**
 * Whether the task of this call is in the stream: as the message that is known, or as one of those after it, if it was stored
 * again. Where it is nowhere it is done; its result would have come before it was removed.
 */
async function isThere(
  { link, names }: ClientContext,
  call: Call,
  sequence: number,
  isOver: () => boolean,
): Promise<boolean> {
  const { jsm } = await link.jetstream();
  for (let seq = sequence; !isOver(); ) {
    // A worker stores a task again before it removes it, and always at the end: on the way there none is passed by.
    const query = { seq, next_by_subj: '>' } as { seq: number };
    const message = await jsm.streams.getMessage(names.stream, query);
    if (message === null) return false;
    const batch = decodeBatch(message.data);
    // Not by its number alone: of a pack some tasks may be stored again, and others be done. A record has its task's id.
    const isIts = batch?.sender === link.node && batch.sequence === call.message;
    if (isIts && batch.records.some(({ data }) => isSame(data, call.record.data))) return true;
    // It is somebody else's.
    if (message.seq === sequence) return false;
    seq = message.seq + 1;
  }
  return false;
}

const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;

function untold({ id }: Call, cause: unknown): MillraceError {
  return failure(
    `a task of the id ${show(id)} was stored before, and the broker does not tell whose it is: ${(cause as Error).message}; it runs all the same`,
    cause,
  );
}
