import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const TYPES = ['system', 'moderation', 'upload', 'presence'];

/**
 * Writes one JSON line per event of the bus. The file opens while the server already works: what a late listener like
 * this one gets of the events before it depends on the bus. A bus with retention has kept them.
 */
export async function openAudit(file, bus, onError) {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  await once(stream, 'open');
  stream.on('error', onError);
  for (const type of TYPES) {
    bus.on(type, (event) => {
      stream.write(`${JSON.stringify({ at: new Date().toISOString(), type, ...event })}\n`);
    });
  }
  return {
    close: () =>
      new Promise((resolve) => {
        stream.end(resolve);
      }),
  };
}
