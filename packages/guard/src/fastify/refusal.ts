/** Refuses a request: by a handler of the route or the plugin, or with the error. */
import { isThenable } from '@millrace/base/realm';
import type { RefusalOptions } from './limits.js';
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  PressureHandler,
} from './types.js';

/** Calls the next hook, or ends the request with an error. */
export type Done = (error?: Error) => void;

const unavailable = 503;
/** Seconds in Retry-After, where neither the options nor a prediction say how many. */
const usualRetryAfter = 10;

export class Refusal {
  readonly #error: Error;
  readonly #pressureHandler: PressureHandler | undefined;
  readonly #retryAfter: number | undefined;

  constructor({ customError, message, pressureHandler, retryAfter }: RefusalOptions) {
    // Shared by all requests: a stack trace per request would be the most expensive part of a refusal.
    this.#error =
      customError === undefined
        ? new UnderPressureError(message)
        : typeof customError === 'function'
          ? new customError()
          : customError;
    this.#pressureHandler = pressureHandler;
    this.#retryAfter = retryAfter;
  }

  /**
   * Refuses a request, unless the handler lets it pass by sending nothing: `pass` is called then. It is called too when a handler that
   * has returned a promise or nothing has answered: who is called has to look. May throw what the handler throws.
   */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    why: { type: string; value: number | undefined; retryAfter?: number },
    pass: () => void,
    fail: Done,
  ): void {
    const handler = this.handlerOf(request.routeOptions.config);
    if (handler === undefined) {
      fail(this.prepare(reply, why.retryAfter));
      return;
    }
    const result = handler(request, reply, why.type, why.value);
    if (result === undefined || result === null) pass();
    // A reply is a thenable too: it settles when it has been sent.
    else if (isThenable(result)) result.then(() => pass(), fail);
    else reply.send(result);
  }

  /** Returns the handler of the route, or else of the plugin. */
  handlerOf({ pressureHandler }: FastifyContextConfig): PressureHandler | undefined {
    const handler = pressureHandler || this.#pressureHandler;
    return typeof handler === 'function' ? handler : undefined;
  }

  /** Sets the status and Retry-After on the reply; returns the error to end it with. */
  prepare(reply: FastifyReply, retryAfter = usualRetryAfter): Error {
    reply.code(unavailable).header('Retry-After', this.#retryAfter ?? retryAfter);
    return this.#error;
  }
}

/** Error with the fields of Fastify's own, by which its error handler and serializers know it. */
class UnderPressureError extends Error {
  readonly code = 'FST_UNDER_PRESSURE';
  readonly statusCode = unavailable;

  constructor(message: string) {
    super(message);
    this.name = 'FastifyError';
  }
}
// By which `instanceof FastifyError` knows one.
Object.defineProperty(UnderPressureError.prototype, Symbol.for('fastify-error-generic'), {
  value: true,
});
