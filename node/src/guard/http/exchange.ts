/** A request and its response of node:http, or of the http2 compatibility API, as a ticket of the guard. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Guard } from '../guard.js';
import { type Rejection, Ticket } from '../ticket.js';
import { answerUnavailable } from './unavailable.js';

/** On a request that has come to a guard: it is not to wait at another, or at the same one again. */
const seen = Symbol('millrace.guard');

type Marked = IncomingMessage & { [seen]?: Guard };

/** Whether a request comes to a guard for the first time; it is marked as this guard's then. */
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
