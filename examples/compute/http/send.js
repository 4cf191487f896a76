import { once } from 'node:events';

/**
 * Answers with pieces as they come, and asks for the next only when the client has taken enough of what there is. One that
 * takes nothing for `idleMs` loses its connection, and others get its place.
 *
 * @param {Iterable<Uint8Array> | AsyncIterable<Uint8Array>} pieces
 */
export async function send(response, type, pieces, { signal, idleMs }) {
  for await (const piece of pieces) {
    if (!response.headersSent) response.type(type);
    if (response.write(piece)) continue;
    response.setTimeout(idleMs);
    await once(response, 'drain', { signal });
    // The next piece may take long, which is not the client's fault.
    response.setTimeout(0);
  }
  response.setTimeout(idleMs);
  response.end();
}
