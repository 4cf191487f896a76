import { once } from 'node:events';

/**
 * Answers with pieces as they come, and asks for the next only when the client has taken enough of what there is.
 *
 * @param {Iterable<Uint8Array> | AsyncIterable<Uint8Array>} pieces
 */
export async function send(response, type, pieces, signal) {
  for await (const piece of pieces) {
    if (!response.headersSent) response.type(type);
    if (!response.write(piece)) await once(response, 'drain', { signal });
  }
  response.end();
}
