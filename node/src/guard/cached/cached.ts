import { MillraceError, show } from '../../errors.js';
import { AnswerCache } from './cache.js';
import { type Call, exchangeOf } from './exchange.js';
import { type CachedOptions, completeOptions } from './options.js';
import type { CachedStats } from './stats.js';

/** A handler that shares its answers. */
export type CachedHandler<Handler> = Handler & {
  /** What was counted since it was made. */
  stats(): CachedStats;
};

/**
 * A handler of the same shape that answers identical requests with one run of `handler`: those that come while it
 * runs, or within `ttl` seconds after it. Under pressure its answers serve `stale` seconds longer.
 *
 * Takes handlers of node:http, Express and Connect (also routers and middleware: then the answer of a later handler
 * is recorded), and of Fastify. Costs about as much as a small answer: use it for handlers that take a millisecond or
 * more.
 *
 * @throws MILLRACE_E_INVALID_OPTION, MILLRACE_E_INVALID_ARGUMENT
 */
export function cached<Handler extends (...args: any[]) => unknown>(
  handler: Handler,
  options: CachedOptions,
): CachedHandler<Handler> {
  if (typeof handler !== 'function') {
    throw new MillraceError(
      'MILLRACE_E_INVALID_ARGUMENT',
      `cached() takes a function that answers requests, not ${show(handler)}`,
    );
  }
  const cache = new AnswerCache(completeOptions(options));
  // Express counts parameters: one with four would be for errors.
  function cachedHandler(this: unknown, ...args: unknown[]): unknown {
    const call: Call = [handler, this, args];
    return cache.handle(exchangeOf(call), () => handler.apply(this, args));
  }
  return Object.assign(cachedHandler, {
    stats: () => cache.stats(),
  }) as unknown as CachedHandler<Handler>;
}
