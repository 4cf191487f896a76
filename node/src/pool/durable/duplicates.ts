/** Whether a call whose task the broker had already is the one that gets its result. */
import { decodeBatch } from '../../broker/wire.js';
import { MillraceError, show } from '../../errors.js';
import type { ClientContext } from './client-context.js';
import type { Stored } from './publisher.js';

/** The error of a call of whose id a task was stored before: by somebody else, who gets its result. Null if it was by this client. */
export async function duplicateOf(
  context: ClientContext,
  id: string,
  { sequence, tries }: Stored,
): Promise<MillraceError | null> {
  // It was this one, as far as can be told: it was sent again because the first answer did not come.
  if (tries > 1 && (await isOwn(context, sequence))) return null;
  context.counts.duplicates++;
  return new MillraceError(
    'MILLRACE_E_DUPLICATE',
    `a task of the id ${show(id)} was stored before, within the duplicateWindow of the stream; its result goes to who stored it`,
  );
}

/** Whether a message is of this client, or is done with, which then is likely. */
async function isOwn({ link, names }: ClientContext, sequence: number): Promise<boolean> {
  try {
    const { jsm } = await link.jetstream();
    const message = await jsm.streams.getMessage(names.stream, { seq: sequence });
    const batch = message === null ? null : decodeBatch(message.data);
    return batch === null || batch.sender === link.node;
  } catch {
    return true;
  }
}
