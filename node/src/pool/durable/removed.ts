/** Which tasks are no longer in the stream: a worker removes a task once its result is with its client, or given up. */
import type { JetStreamManager } from '../../broker/client-types.js';
import { decodeBatch, type WireBatch } from '../../broker/wire.js';
import type { Call } from './call.js';
import type { ClientContext } from './client-context.js';

/**
 * Those of the calls whose tasks are nowhere in the stream: a result would have come before. Costs a request for each message of the
 * calls; if one is gone, one for each message that is stored behind it. `isOver` ends it early, with none. Rejects when the broker does not
 * answer.
 */
export async function removedCalls(
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
      // Where a task of its id was there before, the message is somebody else's.
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

/** Not by its number alone: of a pack some tasks may be stored again, and others be done. A record has its task's id. */
function has({ link }: ClientContext, batch: WireBatch | null, call: Call): boolean {
  if (batch?.sender !== link.node || batch.sequence !== call.message) return false;
  return batch.records.some(({ data }) => Buffer.compare(data, call.record.data) === 0);
}
