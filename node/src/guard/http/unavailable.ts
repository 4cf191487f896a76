/** The answer to a request that is turned away: as little as says so. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

const status = 503;
const type = 'text/plain; charset=utf-8';

/** A body up to this size is read and thrown away, so that its connection can be used again. In bytes. */
const maxDiscarded = 64 * 1024;

/** Answers with a 503, unless somebody has answered or the client has left. */
export function answerUnavailable(
  req: IncomingMessage,
  res: ServerResponse,
  retryAfterSeconds: number,
  message: string,
): void {
  if (res.headersSent || res.writableEnded || res.destroyed) return;
  const headers: OutgoingHttpHeaders = {
    'Retry-After': retryAfterSeconds,
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(message),
  };
  if (req.httpVersionMajor === 1 && hasMuchToCome(req)) headers.Connection = 'close';
  // RFC 9110 leaves it out of a 5xx.
  res.sendDate = false;
  res.writeHead(status, headers);
  res.end(message);
}

/** The same for a connection that was to be upgraded, and that node:http has let go of. */
export function unavailableText(retryAfterSeconds: number, message: string): string {
  return (
    `HTTP/1.1 ${status} Service Unavailable\r\n` +
    'Connection: close\r\n' +
    `Retry-After: ${retryAfterSeconds}\r\n` +
    `Content-Type: ${type}\r\n` +
    `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n` +
    message
  );
}

/** A body that nobody will read, and that is too long to be read for the connection's sake. */
function hasMuchToCome(req: IncomingMessage): boolean {
  if (req.complete) return false;
  if (req.headers['transfer-encoding'] !== undefined) return true;
  return Number(req.headers['content-length'] ?? 0) > maxDiscarded;
}
