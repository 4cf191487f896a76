/**
 * Ticket for a request and its response of node:http, or of the http2 compatibility API; and the response to a refused
 * request.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Guard } from '../guard.js';
import { type Rejection, Ticket } from '../ticket.js';

/** Mark on a request that has reached a guard: it does not wait at another, or at the same one again. */
const seen = Symbol('millrace.guard');

type Marked = IncomingMessage & { [seen]?: Guard };

/** Reports whether a request reaches a guard for the first time, and marks it as this guard's. */
export function isNew(req: IncomingMessage, guard: Guard): boolean {
  const marked = req as Marked;
  if (marked[seen] !== undefined) return false;
  marked[seen] = guard;
  return true;
}

/** Returns the guard that a request has reached, if any. */
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

// ---- the refusal: a minimal response

const status = 503;
const type = 'text/plain; charset=utf-8';

/** A body up to this size is read and thrown away, so that its connection can be used again. In bytes. */
const maxDiscarded = 64 * 1024;

/** Responds with a 503, unless other code has responded or the client has left. */
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

/** Responds with a 503 on a connection that requested an upgrade, and that node:http has released. */
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

/** Reports whether a request has an unread body that is too long to be read for the connection's sake. */
function hasMuchToCome(req: IncomingMessage): boolean {
  if (req.complete) return false;
  if (req.headers['transfer-encoding'] !== undefined) return true;
  return Number(req.headers['content-length'] ?? 0) > maxDiscarded;
}
