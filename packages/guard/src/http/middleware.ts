/** The guard as middleware, for applications of Express 4 and 5 and of Connect. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { chosenGuard, type Guard } from '../guard.js';
import type { GuardOptions } from '../options.js';
import { Exchange, isNew } from './exchange.js';

/** Middleware for Express and Connect. */
export interface GuardMiddleware {
  (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void): void;
  /** Guard of the middleware, for `stats()` and `close()`. */
  readonly guard: Guard;
}

/**
 * Returns middleware that guards the middleware and routes after it. Use it first: middleware before it is not guarded.
 * `guard(server)` sees requests earlier, and upgrades and `Expect: 100-continue` as well; a request that has passed such a
 * guard, or another middleware of this kind, passes at once.
 *
 * @param options of a guard of its own, or a guard that is shared
 * @throws MILLRACE_E_CLOSED if the guard that is given is closed; MILLRACE_E_INVALID_OPTION
 */
export function guardMiddleware(options: GuardOptions | Guard = {}): GuardMiddleware {
  const guard = chosenGuard(options);
  const watched = new WeakSet<Server>();
  const middleware = (
    req: IncomingMessage,
    res: ServerResponse,
    next: (error?: unknown) => void,
  ): void => {
    if (!isNew(req, guard)) {
      next();
      return;
    }
    watchConnections(req, watched, guard);
    guard.admit(new MiddlewareExchange(guard, req, res, next));
  };
  return Object.assign(middleware, { guard });
}

class MiddlewareExchange extends Exchange {
  readonly #next: () => void;

  constructor(guard: Guard, req: IncomingMessage, res: ServerResponse, next: () => void) {
    super(guard, req, res);
    this.#next = next;
  }

  run(): void {
    this.#next();
  }
}

/** A guard counts new connections. A middleware learns of its server by the first request. */
function watchConnections(req: IncomingMessage, watched: WeakSet<Server>, guard: Guard): void {
  const server = (req.socket as { server?: Server } | undefined)?.server;
  if (server === undefined || watched.has(server)) return;
  watched.add(server);
  const notice = () => guard.noticeConnection();
  server.on('connection', notice);
  guard.onClose(() => server.off('connection', notice));
}
