/** A request and its response of node:http, or of the http2 compatibility API, as a ticket of the guard. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Guard } from '../guard.js';
import { type Rejection, Ticket } from '../ticket.js';
import { onceClosed } from './closing.js';
import { answerUnavailable } from './unavailable.js';

/** On a request that has come to a guard: it is not to wait at another, or at the same one again. */
const seen = Symbol('millrace.guard');

/** Whether a request has come to a guard for the first time; it is marked. */
export function isNew(req: IncomingMessage): boolean {
  const marked = req as IncomingMessage & { [seen]?: true };
  if (marked[seen] === true) return false;
  marked[seen] = true;
  return true;
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

  override whenClosed(fn: () => void): void {
    onceClosed(this.req, this.res, fn);
  }
}
