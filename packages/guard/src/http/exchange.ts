/**
 * A request and its response of node:http, or of the http2 compatibility API, as a ticket of the guard; and the answer to one that
 * is turned away.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Guard } from '../guard.js';
import { type Rejection, Ticket } from '../ticket.js';

/** Mark on a request that has come to a guard: it is not to wait at another, or at the same one again. */
const seen = Symbol('millrace.guard');

type Marked = IncomingMessage & { [seen]?: Guard };

/** Reports whether a request comes to a guard for the first time; it is marked as this guard's then. */
export function isNew(req: IncomingMessage, guard: Guard): boolean {
  const marked = req as Marked;
  if (marked[seen] !== undefined) return false;
  marked[seen] = guard;
  return true;
}

/** The guard that a request has come to, if any. */
export function guardOf(req: IncomingMessage): Guard | undefined {
  return (req as Marked)[seen];
}

export abstract class Exchange extends Ticket {
  readonly guard: Guard;

  constructor(guard: Guard, req: IncomingMessage, res: ServerResponse) {
    const route = guard.routeOf(req);
    super(req, res, guard.classOf(req, route), route);
    this.guard = guard;
  }

  shed(rejection: Rejection): void {
    answerUnavailable(this.req, this.res, rejection.retryAfterSeconds, this.guard.options.message);
  }
}

// ---- the answer: as little as says so

const status = 503;
const type = 'text/plain; charset=utf-8';

/** A body up to this size is read and thrown away, so that its connection can be used again. In bytes. */
const maxDiscarded = 64 * 1024;

/** Answers with a 503, unless somebody has answered or the client has left. */
function answerUnavailable(
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
